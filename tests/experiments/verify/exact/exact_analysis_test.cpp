#include "experiments/verify/exact/exact_result.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <tbb/global_control.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "analysis/theory/theorems.hpp"
#include "tests/experiments/config_error_of.hpp"
#include "tests/experiments/run_of.hpp"

using namespace speclab;

namespace {

Json config_of(const std::string& more) {
  Json config = parse_json(R"({
    "title": "test", "seed": 5, "gamma": 3, "cost": {"c": 0.05, "c_hat": 0.1}, "search": {"max_gamma": 6},
    "models": {"target": {"kind": "markov", "vocab": 6, "concentration": 0.3, "seed": 4},
               "draft": {"kind": "markov", "vocab": 6, "concentration": 0.3, "seed": 9}},
    "simulation": {"trials": 16, "length": 200, "prompt": [0]}
  })");
  config.update(parse_json(more));
  return config;
}

ExactResult exact_of(const std::string& more, bool simulate = false) {
  return analyse_exactly(read_config(config_of(more)), simulate);
}

ClassResult only_class(const ExactResult& result) {
  REQUIRE(result.classes.size() == 1);
  return result.classes[0];
}

std::string refusal(const std::string& more) {
  return config_error_of([&] { exact_of(more); });
}

bool says(const std::string& text, const std::string& piece) { return text.find(piece) != std::string::npos; }

bool remarks(const ClassResult& one, const std::string& piece) {
  return std::any_of(one.remarks.begin(), one.remarks.end(),
                     [&](const std::string& remark) { return says(remark, piece); });
}

}  // namespace

TEST_CASE("an i.i.d. pair: the exact column is Eq. 1, and no error is left") {
  const ClassResult one = only_class(exact_of(R"({"gamma": 5, "models": {
      "target": {"kind": "zipf", "vocab": 50},
      "draft": {"kind": "mixture", "alpha": 0.8, "other": {"kind": "zipf", "reversed": true}}}})"));
  const RoundNumbers& exact = one.exact;
  REQUIRE(one.iid);
  REQUIRE(one.iid_error_percent);
  CHECK(*exact.alpha == doctest::Approx(0.8).epsilon(1e-13));
  using N = RoundNumbers;
  for (const auto quantity :
       {&N::alpha_overlap, &N::alpha_examined, &N::tokens_per_target_step, &N::tokens_variance, &N::speedup,
        &N::operations, &N::best_speedup, &N::first_accepted, &N::second_accepted, &N::rejections}) {
    CHECK(*(exact.*quantity) == doctest::Approx(*(*one.iid.*quantity)).epsilon(1e-12));
    CHECK(std::abs(*(*one.iid_error_percent.*quantity)) < 1e-9);
  }
  CHECK(*exact.tokens_per_target_step == doctest::Approx(expected_tokens(0.8, 5)).epsilon(1e-13));
  CHECK(*exact.speedup == doctest::Approx(speedup(0.8, 5, 0.05)).epsilon(1e-13));
  CHECK(*exact.operations == doctest::Approx(operations(0.8, 5, 0.1)).epsilon(1e-13));
  CHECK(std::abs(*exact.relative_gain) < 1e-12);
  CHECK(exact.optimal_gamma == one.iid->optimal_gamma);
  CHECK(*exact.tokens_per_target_step_of_simulation ==
        doctest::Approx(*exact.tokens_per_target_step).epsilon(1e-13));
}

TEST_CASE("a chain whose parts hardly ever meet is solved when it is small, and refused when it is large") {
  // Context 0 lasts twice as long as context 1, where the draft is worse: computed by hand, alpha is (2 * 0.9
  // + 0.5) / 3 = 23/30, whatever e is.
  for (const char* e : {"1e-5", "1e-13"}) {
    const double small = std::stod(e);
    const std::string rows = fmt::format(
        R"({{"models": {{"target": {{"kind": "table", "rows": [[{0:.17g}, {1:.17g}], [{2:.17g}, {3:.17g}]]}},
            "draft": {{"kind": "table", "rows": [[0.9, 0.1], [0.5, 0.5]]}}}}}})",
        1 - small, small, 2 * small, 1 - 2 * small);
    const ClassResult one = only_class(exact_of(rows));
    REQUIRE(one.exact.alpha);
    CHECK(*one.exact.alpha == doctest::Approx(23.0 / 30).epsilon(3 * small + 1e-12));
    CHECK(one.round_solution.direct);
    CHECK(one.round_solution.converged);
  }

  // There are 100 states of either kind.
  constexpr int states = 200;
  const double e = 1e-13;
  std::string target;
  std::string draft;
  for (int x = 0; x < states; ++x) {
    std::vector<double> row(states);
    const int part = x / 100;
    for (int y = 0; y < 100; ++y) row[static_cast<std::size_t>(100 * part + (x * 31 + y * y) % 100)] += 0.01;
    for (double& value : row) value *= 1 - (part + 1) * e;
    row[static_cast<std::size_t>((x + 100) % states)] += (part + 1) * e;
    std::vector<double> drafted(states, part == 0 ? 0.001 : 0.009);
    for (int y = 0; y < 100; ++y) drafted[static_cast<std::size_t>(y)] = part == 0 ? 0.009 : 0.001;
    target += fmt::format("{}[{:.17g}]", x == 0 ? "" : ", ", fmt::join(row, ", "));
    draft += fmt::format("{}[{:.17g}]", x == 0 ? "" : ", ",
                         fmt::join(part == 0 ? drafted : std::vector<double>(states, 0.005), ", "));
  }
  const ClassResult large =
      only_class(exact_of(fmt::format(R"({{"models": {{"target": {{"kind": "table", "rows": [{}]}},
                                    "draft": {{"kind": "table", "rows": [{}]}}}}}})",
                                      target, draft)));
  CHECK_FALSE(large.round_solution.converged);
  CHECK_FALSE(large.iid);
  CHECK_FALSE(large.exact.tokens_per_target_step);
  CHECK_FALSE(large.tokens_per_target_step_from_start);
  CHECK(large.speedup_by_gamma.empty());
  CHECK(remarks(large, "too slowly"));
  CHECK(remarks(large, "lie between"));
}

TEST_CASE("the search gives for each gamma what an analysis at that gamma gives") {
  const ClassResult one = only_class(exact_of("{}"));
  REQUIRE(one.speedup_by_gamma.size() == 7);
  double best = 0;
  for (int gamma = 0; gamma <= 6; ++gamma) {
    const ClassResult there = only_class(exact_of(R"({"gamma": )" + std::to_string(gamma) + "}"));
    const double speedup_there = *there.exact.speedup;
    CHECK(one.speedup_by_gamma[static_cast<std::size_t>(gamma)] ==
          doctest::Approx(speedup_there).epsilon(1e-11));
    best = std::max(best, speedup_there);
  }
  CHECK(*one.exact.best_speedup == doctest::Approx(best).epsilon(1e-11));
}

TEST_CASE("a best gamma at the end of the search is named as such, and so is a formula's beyond it") {
  const std::string close = R"({"models": {"target": {"kind": "zipf", "vocab": 50},
      "draft": {"kind": "mixture", "alpha": 0.95, "other": {"kind": "zipf", "reversed": true}}}, "cost": {"c": )";
  const ClassResult one = only_class(exact_of(close + "0.01}}"));
  CHECK(one.exact.optimal_gamma == 6);
  REQUIRE(one.remarks.size() == 2);
  CHECK(says(one.remarks[0], "the largest that was searched"));
  CHECK(says(one.remarks[1], "is best at gamma = 40;"));
  CHECK(says(only_class(exact_of(close + "0}}")).remarks.back(), "gains with every gamma"));
}

TEST_CASE("models with context: the formulas are off, and planted faults show") {
  const std::string models = R"("models": {
      "target": {"kind": "table", "rows": [[0.9, 0.1], [0.1, 0.9]]},
      "draft": {"kind": "table", "rows": [[0.9, 0.1], [0.9, 0.1]]}})";
  const ClassResult one = only_class(exact_of("{" + models + "}"));
  CHECK(*one.exact.alpha == doctest::Approx(0.6).epsilon(1e-12));
  CHECK(*one.exact.alpha_overlap == doctest::Approx(0.6).epsilon(1e-12));
  CHECK(*one.iid_error_percent->tokens_per_target_step > 5);
  CHECK(*one.exact.relative_gain > 0.3);
  CHECK(std::abs(*one.exact.regret) < 1e-12);

  const ClassResult all = only_class(exact_of("{" + models + R"(, "rule": {"kind": "fault-accept-all"}})"));
  CHECK(*all.exact.tokens_per_target_step == doctest::Approx(4).epsilon(1e-12));
  const ClassResult again =
      only_class(exact_of("{" + models + R"(, "rule": {"kind": "fault-resample-target"}})"));
  CHECK(std::abs(*again.exact.tokens_per_target_step - *one.exact.tokens_per_target_step) > 0.05);
  CHECK(*again.exact.alpha_overlap > 0.65);
}

TEST_CASE(
    "greedy verification of a sampling target: alpha is over the target's contexts, rounds over greedy "
    "ones") {
  // Rounds stay at token 0, where the draft's probability of it is 0.7. The target is at token 1 for 0.4 of
  // its text; there the draft's probability of 0 is 0.8.
  const ClassResult one = only_class(exact_of(R"({"rule": {"kind": "greedy"}, "models": {
      "target": {"kind": "table", "rows": [[0.6, 0.4], [0.6, 0.4]]},
      "draft": {"kind": "table", "rows": [[0.7, 0.3], [0.8, 0.2]]}}})"));
  CHECK(*one.exact.alpha == doctest::Approx(0.74).epsilon(1e-12));
  CHECK(*one.exact.alpha_overlap == doctest::Approx(0.7).epsilon(1e-12));
  CHECK(*one.exact.tokens_per_target_step == doctest::Approx(expected_tokens(0.7, 3)).epsilon(1e-12));
}

TEST_CASE("gamma = 0 is plain decoding: what needs a drafted token has no value") {
  const ClassResult one = only_class(exact_of(R"({"gamma": 0})"));
  CHECK(*one.exact.tokens_per_target_step == doctest::Approx(1).epsilon(1e-13));
  CHECK_FALSE(one.exact.rejections.has_value());
  CHECK_FALSE(one.exact.alpha_examined.has_value());
  CHECK(one.exact.distribution.size() == 1);
}

TEST_CASE("two closed classes are analysed by themselves; transient contexts are counted") {
  const std::string classes = R"({"simulation": {"trials": 16, "length": 200, "prompt": []}, "models": {
      "target": {"kind": "table", "rows": [[0.5, 0.25, 0.25, 0], [0, 1, 0, 0], [0, 0, 0.5, 0.5], [0, 0, 0.5, 0.5]]},
      "draft": {"kind": "table", "rows": [[0.25, 0.25, 0.25, 0.25], [0.5, 0.5, 0, 0],
                                          [0.4, 0.4, 0.1, 0.1], [0.4, 0.4, 0.1, 0.1]]}}})";
  const ExactResult result = exact_of(classes, true);
  CHECK(result.chain.closed_classes == 2);
  CHECK(result.chain.transient_contexts == 2);  // the empty context and token 0
  REQUIRE(result.classes.size() == 2);
  CHECK(*result.classes[0].exact.alpha == doctest::Approx(0.5).epsilon(1e-12));
  CHECK(*result.classes[1].exact.alpha == doctest::Approx(0.2).epsilon(1e-12));
  CHECK(result.classes[1].start == std::vector<Token>{2});
  // Simulated overlaps are summed in quanta of 2^-32.
  CHECK(result.classes[1].simulated->alpha_overlap->estimate == doctest::Approx(0.2).epsilon(1e-9));
  CHECK(says(terminal(exact_text(result)), "2 closed classes"));
  // Each class has ten numbers and P(N = 1 .. 4).
  CHECK(result.interval_confidence == 0.95);
  std::string together = classes;
  together.back() = ',';
  CHECK(exact_of(together + R"("simultaneous": true})").interval_confidence ==
        doctest::Approx(family_confidence(0.95, 2 * 14)));
}

TEST_CASE("classes of plain decoding that a lossy rule joins have no one alpha") {
  const ClassResult one = only_class(exact_of(R"({"rule": {"kind": "fault-accept-all"}, "models": {
      "target": {"kind": "table", "rows": [[1, 0], [0, 1]]}, "draft": {"kind": "uniform"}}})"));
  CHECK_FALSE(one.iid.has_value());
  CHECK_FALSE(one.exact.alpha.has_value());
  CHECK(*one.exact.tokens_per_target_step == doctest::Approx(4).epsilon(1e-12));
  CHECK(remarks(one, "several closed classes of the target's chain"));
}

TEST_CASE("contexts that rounds never leave, though single steps would, are a class") {
  // From 0, half of the rounds of two drafted tokens emit 1, 0, 0, and half emit 1; after these 0, 0 follow.
  // So no round takes the step from 1 to 1, which leads into a class of 2.1111 tokens per round.
  const ClassResult one =
      only_class(exact_of(R"({"gamma": 2, "rule": {"kind": "lenient-greedy", "lenience": 0.7},
      "simulation": {"trials": 16, "length": 200, "prompt": [0, 0]}, "models": {
      "target": {"kind": "table", "rows": [[1, 8], [7, 9], [8, 4], [2, 6]]},
      "draft": {"kind": "table", "rows": [[1, 1], [1, 0], [0, 1], [1, 2]]}}})"));
  CHECK(*one.exact.tokens_per_target_step == doctest::Approx(2).epsilon(1e-12));
  // After 2, 2 half of the texts enter it, and half the class of 1.
  const ExactResult both = exact_of(R"({"gamma": 2, "rule": {"kind": "lenient-greedy", "lenience": 0.7},
      "simulation": {"trials": 16, "length": 200, "prompt": [2, 2]}, "models": {
      "target": {"kind": "table", "rows": [[1, 8, 0], [7, 9, 0], [1, 0, 0], [8, 4, 0], [2, 6, 0], [1, 0, 0], [1, 0, 0], [0, 1, 0], [5, 5, 0]]},
      "draft": {"kind": "table", "rows": [[1, 1, 0], [1, 0, 0], [1, 0, 0], [0, 1, 0], [1, 2, 0], [1, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]]}}})");
  REQUIRE(both.classes.size() == 2);
  const double first = *both.classes[0].exact.tokens_per_target_step;
  const double second = *both.classes[1].exact.tokens_per_target_step;
  CHECK(std::min(first, second) == doctest::Approx(2).epsilon(1e-12));
  CHECK(std::max(first, second) == doctest::Approx(19.0 / 9).epsilon(1e-9));
}

TEST_CASE("rounds that remember their start say so") {
  // Greedy lenience: 0 accepts 1 and returns (N = 2); 2 rejects and goes to 3, which accepts 4 and returns to
  // 2 (N = 1, 2). Plain decoding runs 0 -> 2 -> 3 -> 0, so that its distribution gives 1/3 to the first cycle
  // and 2/3 to the second.
  const ClassResult one =
      only_class(exact_of(R"({"gamma": 1, "rule": {"kind": "lenient-greedy", "lenience": 0.5},
      "sampling": {"temperature": 0}, "simulation": {"trials": 16, "length": 200, "prompt": [2]}, "models": {
      "target": {"kind": "table", "rows": [[0, 0.4, 0.6, 0, 0], [1, 0, 0, 0, 0], [0, 0, 0, 1, 0],
                                           [0.6, 0, 0, 0, 0.4], [0, 0, 1, 0, 0]]},
      "draft": {"kind": "table", "rows": [[0, 1, 0, 0, 0], [0, 0, 0, 0, 1], [1, 0, 0, 0, 0],
                                          [0, 0, 0, 0, 1], [1, 0, 0, 0, 0]]}}})"));
  CHECK(*one.exact.tokens_per_target_step == doctest::Approx(5.0 / 3).epsilon(1e-12));
  CHECK(one.tokens_per_target_step_from_start == doctest::Approx(1.5).epsilon(1e-12));
  CHECK(*one.exact.tokens_per_target_step_of_simulation == doctest::Approx(1.5).epsilon(1e-12));
  CHECK(remarks(one, "depends on where they start"));
  CHECK_FALSE(remarks(only_class(exact_of("{}")), "depends on where they start"));
}

TEST_CASE("the result has the same bytes at one thread and at two, and no seconds in it") {
  const auto bytes = [](std::size_t threads) {
    const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
    Json json;
    write(described<ExactResult>(), exact_of("{}", true), json);
    return json.dump();
  };
  const std::string once = bytes(1);
  CHECK(once == bytes(2));
  CHECK_FALSE(says(once, "seconds"));
  CHECK(says(once, "\"iterations\""));
  CHECK(says(once, "\"relative_gain\""));
}

TEST_CASE("what cannot be analysed is refused with its place and a remedy") {
  CHECK(says(refusal(R"({"sweep": {"/gamma": [1, 2]}})"), "/sweep: exact analyses one configuration"));
  for (const char* kind : {"block", "tree", "recursive", "fault-draft-bonus", "fault-late-context"}) {
    CAPTURE(kind);
    CHECK(says(refusal(R"({"rule": {"kind": ")" + std::string(kind) + "\"}}"),
               "/rule/kind: exact needs a rule of one draft"));
  }
  CHECK(says(refusal(R"({"models": null})"), "/models"));
  CHECK(says(refusal(R"({"search": {"max_gamma": 0}})"), "/search/max_gamma"));
}

TEST_CASE("an order that makes too many contexts is refused, and top_k makes it possible") {
  // 4-grams over the 256 bytes have 16.7 million contexts of three bytes, all of them possible.
  const std::string corpus =
      std::string(R"("corpus": {"file": ")") + SPECLAB_SOURCE_DIR +
      R"(/README.md", "tokenization": "bytes"}, "models": {"target": {"kind": "ngram", "order": 4},
                             "draft": {"kind": "bigram"}}, "search": {"max_gamma": 2})";
  const std::string refused = refusal("{" + corpus + "}");
  CHECK(says(refused, "/models: more than 1,000,000 contexts of 3 tokens"));
  CHECK(says(refused, "top_k"));
  const ExactResult result = exact_of("{" + corpus + R"(, "sampling": {"top_k": 2}})");
  CHECK(result.chain.memory == 3);
  CHECK(result.chain.contexts > 50);
  CHECK_FALSE(result.chain.dense);
}

TEST_CASE(
    "a grammar is part of the context: by hand, and by simulation; other options that remember are refused") {
  // Token 0 is followed by 1. In state 0 the overlap is 0.9 and in state 1 it is 1. Plain decoding is in
  // state 1 a third of the time. Rounds begin there in 7 of 17: from state 0 with 0.5 * 0.5 + 0.1, from 1
  // with 0.5.
  const std::string with = R"({"gamma": 1, "models": {"target": {"kind": "table", "rows": [[5, 3, 2]]},
      "draft": {"kind": "table", "rows": [[4, 4, 2]]}},)";
  const std::string grammar = R"("sampling": {"grammar": [{"0": 1, "*": 0}, {"1": 0}]}})";
  const ExactResult result = exact_of(with + grammar, true);
  CHECK(result.chain.contexts == 2);
  const ClassResult one = only_class(result);
  CHECK(*one.exact.alpha == doctest::Approx(2 / 3.0 * 0.9 + 1 / 3.0).epsilon(1e-12));
  CHECK(*one.exact.tokens_per_target_step == doctest::Approx(33 / 17.0).epsilon(1e-12));
  CHECK(remarks(one, "forces 0.333333 of the tokens"));
  CHECK(remarks(one, "1.5 tokens per target step"));
  REQUIRE(one.simulated);
  const Interval& simulated = *one.simulated->tokens_per_target_step;
  CHECK(std::abs(simulated.estimate - 33 / 17.0) < 4 * simulated.half_width());
  CHECK(std::abs(simulated.estimate - 1.9) > 4 * simulated.half_width());  // the rate of state 0 alone
  CHECK(
      says(refusal(with + R"("sampling": {"frequency_penalty": 1}})"), "/sampling: exact follows a grammar"));
  // Tokens that are forced for ever would be an unbounded number per target step.
  CHECK(says(refusal(with + R"("sampling": {"grammar": [{"0": 1, "*": 0}, {"1": 1}]}})"),
             "/sampling/grammar/1: from here every token is forced"));
}

#include "experiments/exact_analysis.hpp"

#include <doctest/doctest.h>
#include <tbb/global_control.h>

#include <cmath>
#include <string>

#include "analysis/theory/theorems.hpp"
#include "experiments/format/document.hpp"
#include "tests/experiments/config_error_of.hpp"

using namespace speclab;

namespace {

Json config_of(const std::string& more) {
  Json config = parse_json(R"({
    "title": "test", "seed": 5, "gamma": 3, "cost": {"c": 0.05, "c_hat": 0.1}, "search": {"max_gamma": 6},
    "models": {"target": {"kind": "markov", "vocab": 6, "concentration": 0.3, "seed": 4},
               "draft": {"kind": "markov", "vocab": 6, "concentration": 0.3, "seed": 9}},
    "plan": {"trials": 16, "length": 200, "prompt": [0]}
  })");
  config.update(parse_json(more));
  return config;
}

Json exact_of(const std::string& more) { return analyse_exactly(config_of(more), false).result; }

Json only_class(const Json& result) {
  REQUIRE(result.at("classes").size() == 1);
  return result.at("classes")[0];
}

double number(const Json& one, const char* part, const char* name) {
  return one.at(part).at(name).get<double>();
}

std::string refusal(const std::string& more) {
  return config_error_of([&] { exact_of(more); });
}

bool says(const std::string& text, const std::string& piece) { return text.find(piece) != std::string::npos; }

}  // namespace

TEST_CASE("an i.i.d. pair: the exact column is Eq. 1, and no error is left") {
  const Json one = only_class(exact_of(R"({"gamma": 5, "models": {
      "target": {"kind": "zipf", "vocab": 50},
      "draft": {"kind": "mixture", "alpha": 0.8, "other": {"kind": "zipf", "reversed": true}}}})"));
  CHECK(number(one, "exact", "alpha") == doctest::Approx(0.8).epsilon(1e-13));
  for (const char* name : {"alpha_overlap", "alpha_examined", "tokens_per_round", "tokens_variance", "speed",
                           "operations", "best_speed", "first_accepted", "second_accepted", "rejections"}) {
    CAPTURE(name);
    CHECK(number(one, "exact", name) == doctest::Approx(number(one, "iid", name)).epsilon(1e-12));
    CHECK(std::abs(number(one, "iid_error_percent", name)) < 1e-9);
  }
  CHECK(number(one, "exact", "tokens_per_round") == doctest::Approx(expected_tokens(0.8, 5)).epsilon(1e-13));
  CHECK(number(one, "exact", "speed") == doctest::Approx(speedup(0.8, 5, 0.05)).epsilon(1e-13));
  CHECK(number(one, "exact", "operations") == doctest::Approx(operations(0.8, 5, 0.1)).epsilon(1e-13));
  CHECK(std::abs(number(one, "exact", "correlation")) < 1e-12);
  CHECK(one.at("exact").at("optimal_gamma") == one.at("iid").at("optimal_gamma"));
  CHECK(number(one, "exact", "tokens_per_round_of_plan") ==
        doctest::Approx(number(one, "exact", "tokens_per_round")).epsilon(1e-13));
}

TEST_CASE("the search gives for each gamma what an analysis at that gamma gives") {
  const Json one = only_class(exact_of("{}"));
  const Json& speeds = one.at("exact").at("speed_by_gamma");
  REQUIRE(speeds.size() == 7);
  double best = 0;
  for (int gamma = 0; gamma <= 6; ++gamma) {
    const Json there = only_class(exact_of(R"({"gamma": )" + std::to_string(gamma) + "}"));
    const double speed_there = number(there, "exact", "speed");
    CHECK(speeds[static_cast<std::size_t>(gamma)].get<double>() ==
          doctest::Approx(speed_there).epsilon(1e-11));
    best = std::max(best, speed_there);
  }
  CHECK(number(one, "exact", "best_speed") == doctest::Approx(best).epsilon(1e-11));
}

TEST_CASE("models with context: the formulas are off, and planted faults show") {
  const std::string models = R"("models": {
      "target": {"kind": "table", "rows": [[0.9, 0.1], [0.1, 0.9]]},
      "draft": {"kind": "table", "rows": [[0.9, 0.1], [0.9, 0.1]]}})";
  const Json one = only_class(exact_of("{" + models + "}"));
  CHECK(number(one, "exact", "alpha") == doctest::Approx(0.6).epsilon(1e-12));
  CHECK(number(one, "exact", "alpha_overlap") == doctest::Approx(0.6).epsilon(1e-12));
  CHECK(number(one, "iid_error_percent", "tokens_per_round") > 5);
  CHECK(number(one, "exact", "correlation") > 0.3);
  CHECK(std::abs(number(one, "exact", "regret")) < 1e-12);

  const Json all = only_class(exact_of("{" + models + R"(, "verifier": {"kind": "fault-accept-all"}})"));
  CHECK(number(all, "exact", "tokens_per_round") == doctest::Approx(4).epsilon(1e-12));
  const Json again =
      only_class(exact_of("{" + models + R"(, "verifier": {"kind": "fault-resample-target"}})"));
  CHECK(std::abs(number(again, "exact", "tokens_per_round") - number(one, "exact", "tokens_per_round")) >
        0.05);
  CHECK(number(again, "exact", "alpha_overlap") > 0.65);
}

TEST_CASE(
    "greedy verification of a sampling target: alpha is over the target's contexts, rounds over greedy "
    "ones") {
  // Rounds stay at token 0, where the draft says so with 0.7; the target is at token 1 for 0.4 of its text,
  // where the draft says 0 with 0.8.
  const Json one = only_class(exact_of(R"({"verifier": {"kind": "greedy"}, "models": {
      "target": {"kind": "table", "rows": [[0.6, 0.4], [0.6, 0.4]]},
      "draft": {"kind": "table", "rows": [[0.7, 0.3], [0.8, 0.2]]}}})"));
  CHECK(number(one, "exact", "alpha") == doctest::Approx(0.74).epsilon(1e-12));
  CHECK(number(one, "exact", "alpha_overlap") == doctest::Approx(0.7).epsilon(1e-12));
  CHECK(number(one, "exact", "tokens_per_round") == doctest::Approx(expected_tokens(0.7, 3)).epsilon(1e-12));
}

TEST_CASE("gamma = 0 is plain decoding: what needs a drafted token is null") {
  const Json one = only_class(exact_of(R"({"gamma": 0})"));
  CHECK(number(one, "exact", "tokens_per_round") == doctest::Approx(1).epsilon(1e-13));
  CHECK(one.at("exact").at("rejections").is_null());
  CHECK(one.at("exact").at("alpha_examined").is_null());
  CHECK(one.at("exact").at("law").size() == 1);
}

TEST_CASE("two closed classes are analysed by themselves; transient contexts are counted") {
  const Json result = exact_of(R"({"plan": {"trials": 16, "length": 200, "prompt": []}, "models": {
      "target": {"kind": "table", "rows": [[0.5, 0.25, 0.25, 0], [0, 1, 0, 0], [0, 0, 0.5, 0.5], [0, 0, 0.5, 0.5]]},
      "draft": {"kind": "table", "rows": [[0.25, 0.25, 0.25, 0.25], [0.5, 0.5, 0, 0],
                                          [0.4, 0.4, 0.1, 0.1], [0.4, 0.4, 0.1, 0.1]]}}})");
  CHECK(result.at("chain").at("closed_classes") == 2);
  CHECK(result.at("chain").at("transient_contexts") == 2);  // the empty context and token 0
  REQUIRE(result.at("classes").size() == 2);
  CHECK(number(result.at("classes")[0], "exact", "alpha") == doctest::Approx(0.5).epsilon(1e-12));
  CHECK(number(result.at("classes")[1], "exact", "alpha") == doctest::Approx(0.2).epsilon(1e-12));
  CHECK(result.at("classes")[1].at("start") == Json::array({2}));
  CHECK(says(exact_text(result), "2 closed classes"));
}

TEST_CASE("classes of plain decoding that a lossy rule joins have no one alpha") {
  const Json one = only_class(exact_of(R"({"verifier": {"kind": "fault-accept-all"}, "models": {
      "target": {"kind": "table", "rows": [[1, 0], [0, 1]]}, "draft": {"kind": "uniform"}}})"));
  CHECK_FALSE(one.contains("iid"));
  CHECK(one.at("exact").at("alpha").is_null());
  CHECK(number(one, "exact", "tokens_per_round") == doctest::Approx(4).epsilon(1e-12));
  CHECK(says(one.at("remarks").dump(), "several closed classes of plain decoding"));
}

TEST_CASE("rounds that remember their start say so") {
  // Greedy lenience: 0 keeps 1 and comes back (N = 2); 2 rejects and goes to 3, which keeps 4 and comes back
  // to 2 (N = 1, 2). Plain decoding runs 0 -> 2 -> 3 -> 0, so that its distribution puts 1/3 on the first and
  // 2/3 on the second.
  const Json one =
      only_class(exact_of(R"({"gamma": 1, "verifier": {"kind": "lenient-greedy", "lenience": 0.5},
      "sampling": {"temperature": 0}, "plan": {"trials": 16, "length": 200, "prompt": [2]}, "models": {
      "target": {"kind": "table", "rows": [[0, 0.4, 0.6, 0, 0], [1, 0, 0, 0, 0], [0, 0, 0, 1, 0],
                                           [0.6, 0, 0, 0, 0.4], [0, 0, 1, 0, 0]]},
      "draft": {"kind": "table", "rows": [[0, 1, 0, 0, 0], [0, 0, 0, 0, 1], [1, 0, 0, 0, 0],
                                          [0, 0, 0, 0, 1], [1, 0, 0, 0, 0]]}}})"));
  CHECK(number(one, "exact", "tokens_per_round") == doctest::Approx(5.0 / 3).epsilon(1e-12));
  CHECK(number(one, "exact", "tokens_per_round_from_first_context") == doctest::Approx(1.5).epsilon(1e-12));
  CHECK(number(one, "exact", "tokens_per_round_of_plan") == doctest::Approx(1.5).epsilon(1e-12));
  CHECK(says(one.at("remarks").dump(), "do not forget where they started"));
  CHECK_FALSE(says(only_class(exact_of("{}")).at("remarks").dump(), "do not forget"));
}

TEST_CASE("the result has the same bytes at one thread and at two, and no seconds in it") {
  const auto bytes = [](std::size_t threads) {
    const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
    const Findings findings = analyse_exactly(config_of("{}"), true);
    CHECK(findings.timings.contains("chain_seconds"));
    return findings.result.dump();
  };
  const std::string once = bytes(1);
  CHECK(once == bytes(2));
  CHECK_FALSE(says(once, "seconds"));
  CHECK(says(once, "\"iterations\""));
}

TEST_CASE("what cannot be analysed is refused with its place and a remedy") {
  CHECK(says(refusal(R"({"sweep": {"/gamma": [1, 2]}})"), "/sweep: exact analyses one configuration"));
  CHECK(says(refusal(R"({"models": {"target": {"kind": "zipf", "vocab": 9}, "draft": {"kind": "copy"}}})"),
             "/models/draft: reads contexts of any length"));
  for (const char* kind : {"block", "tree", "recursive", "fault-draft-bonus", "fault-late-context"}) {
    CAPTURE(kind);
    CHECK(says(refusal(R"({"verifier": {"kind": ")" + std::string(kind) + "\"}}"),
               "/verifier/kind: exact needs a verifier of one draft"));
  }
  CHECK(says(refusal(R"({"models": null})"), "/models"));
  CHECK(says(refusal(R"({"search": {"max_gamma": 0}})"), "/search/max_gamma"));
}

TEST_CASE("an order that makes too many contexts is refused, and top_k makes it possible") {
  // 4-grams over the 256 bytes: 16.7 million contexts of three bytes, every one possible.
  const std::string corpus =
      std::string(R"("corpus": {"file": ")") + SPECLAB_SOURCE_DIR +
      R"(/README.md", "units": "bytes"}, "models": {"target": {"kind": "ngram", "order": 4},
                             "draft": {"kind": "bigram"}}, "search": {"max_gamma": 2})";
  const std::string refused = refusal("{" + corpus + "}");
  CHECK(says(refused, "/models: more than 1,000,000 contexts of 3 tokens"));
  CHECK(says(refused, "top_k"));
  const Json result = exact_of("{" + corpus + R"(, "sampling": {"top_k": 2}})");
  CHECK(result.at("chain").at("memory") == 3);
  CHECK(result.at("chain").at("contexts").get<int>() > 50);
  CHECK_FALSE(result.at("chain").at("dense").get<bool>());
}

#include "experiments/beam_experiment.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <tbb/global_control.h>

#include <atomic>
#include <string>

#include "experiments/format/document.hpp"
#include "experiments/format/validate.hpp"
#include "experiments/laboratory.hpp"
#include "tests/experiments/config_error_of.hpp"
#include "tests/sim/random_tokens.hpp"
#include "tests/sim/temp_file.hpp"

using namespace speclab;

namespace {

/// A text of twenty words, long enough for n-grams.
std::string some_text() {
  std::string text;
  for (const Token token : random_tokens(3, 3000, 20)) text += fmt::format("w{} ", token);
  return text;
}

Json config_of(const TempFile& text, const std::string& more = "{}") {
  Json config = parse_json(R"({
    "title": "test", "experiment": "beam", "seed": 5, "gamma": 3,
    "models": {"target": {"kind": "ngram", "order": 4}, "draft": {"kind": "bigram"}},
    "beam": {"width": 3, "draft_width": 6, "length": 12},
    "cost": {"c": 0.1, "c_hat": 0.2},
    "plan": {"trials": 40, "prompt_tokens": 4}
  })");
  config["corpus"] = Json{{"file", text.path().string()}, {"vocabulary", 20}};
  config.merge_patch(parse_json(more));
  return config;
}

Findings run(const Json& config, const Control& control = {}) {
  return run_config(config, [&](std::uint64_t) { return control; });
}

Json cell_of(const Json& config) { return run(config).result.at("cells")[0]; }

double estimate(const Json& cell, const char* metric) {
  return cell.at("simulated").at(metric)[0].get<double>();
}

}  // namespace

TEST_CASE("the numbers of a cell follow from its counts, and all beams are identical") {
  const TempFile text(some_text());
  const Json cell = cell_of(config_of(text));
  const Json& counts = cell.at("counts");
  const auto count = [&](const char* name) { return counts.at(name).get<double>(); };
  CHECK(count("searches") == 40);
  CHECK(count("identical") == 40);
  CHECK(estimate(cell, "identical_beams") == 1);
  CHECK(count("emitted") == 40 * 12);
  CHECK(count("emitted") == count("rounds") + count("accepted"));
  CHECK(count("accepted") > 0);
  CHECK(count("accepted") < count("examined"));
  // One sequence, the prompt, in the first step of a search; three in each of the others.
  CHECK(count("plain_rows") == 40 * (1 + 11 * 3));
  CHECK(count("target_rows") <= count("rounds") * (3 + 6 * 3));

  CHECK(estimate(cell, "accepted_per_round") == doctest::Approx(count("accepted") / count("rounds")));
  CHECK(estimate(cell, "tokens_per_round") == doctest::Approx(count("emitted") / count("rounds")));
  CHECK(estimate(cell, "alpha_examined") == doctest::Approx(count("accepted") / count("examined")));
  CHECK(estimate(cell, "speed") ==
        doctest::Approx(count("emitted") / (count("rounds") + 0.1 * count("drafted"))));
  CHECK(estimate(cell, "target_rows") == doctest::Approx(count("target_rows") / count("plain_rows")));
  CHECK(estimate(cell, "operations") ==
        doctest::Approx((count("target_rows") + 0.2 * count("draft_rows")) / count("plain_rows")));
  CHECK(cell.at("positions").size() == 3);
}

TEST_CASE("the formula at the measured acceptance: A.4's budget w + u gamma over the steps it buys") {
  const TempFile text(some_text());
  const Json cell = cell_of(config_of(text));
  const double alpha = estimate(cell, "alpha_examined");
  const double steps = 1 + alpha + alpha * alpha + alpha * alpha * alpha;
  const Json& formula = cell.at("formula");
  CHECK(cell.at("formula_alpha") == "measured");
  CHECK(formula.at("tokens_per_round").get<double>() == doctest::Approx(steps));
  CHECK(formula.at("target_rows").get<double>() == doctest::Approx((3 + 6 * 3) / (3 * steps)));
  CHECK(formula.at("operations").get<double>() ==
        doctest::Approx((3 + 6 * 3 + 0.2 * (3 + 6 * 2)) / (3 * steps)));
  CHECK(formula.at("speed").get<double>() == doctest::Approx(steps / 1.3));
}

TEST_CASE("gamma 0 is plain beam search") {
  const TempFile text(some_text());
  const Json cell = cell_of(config_of(text, R"({"gamma": 0})"));
  for (const char* metric : {"tokens_per_round", "speed", "operations", "memory_accesses", "target_rows"}) {
    CAPTURE(metric);
    CHECK(estimate(cell, metric) == 1);
    CHECK(cell.at("formula").at(metric) == 1);
  }
  CHECK(cell.at("counts").at("draft_rows") == 0);
}

TEST_CASE("a planted fault is caught by the comparison of beams") {
  const TempFile text(some_text());
  const Json cell = cell_of(config_of(text, R"({"beam": {"acceptance": "fault_best_contained"}})"));
  CHECK(cell.at("counts").at("identical").get<int>() < 20);
  CHECK(estimate(cell, "identical_beams") < 0.5);
}

TEST_CASE("one fixed prompt is one search") {
  const Json config = parse_json(R"({"title": "t", "experiment": "beam",
    "models": {"target": {"kind": "markov", "vocab": 6, "seed": 1}, "draft": {"kind": "markov", "vocab": 6, "seed": 2}},
    "plan": {"prompt": [1, 2]}})");
  CHECK(measure_workload(config).steps == 32);
  const Json cell = cell_of(config);
  CHECK(cell.at("counts").at("searches") == 1);
  CHECK(cell.at("counts").at("identical") == 1);
}

TEST_CASE("the same bytes at one thread and at two, and progress adds up") {
  const TempFile text(some_text());
  const Json config = config_of(text, R"({"sweep": {"/gamma": [1, 3], "/beam/draft_width": [3, 8]}})");
  std::string alone;
  {
    const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, 1);
    alone = run(config).result.dump();
  }
  std::atomic<std::uint64_t> done{0};
  CHECK(run(config, {.progress = [&](std::uint64_t more) { done += more; }}).result.dump() == alone);
  CHECK(done == measure_workload(config).steps);
  CHECK(done == 4 * 40 * 12);
}

TEST_CASE("stopped on the way: partial, without numbers, and gone on with to the same bytes") {
  const TempFile text(some_text());
  const Json config = config_of(text, R"({"sweep": {"/gamma": [1, 2, 3]}})");
  std::atomic<std::uint64_t> done{0};
  const Json part = run(config, {.stop = [&] { return done > 60 * 12; },
                                 .progress = [&](std::uint64_t more) { done += more; }})
                        .result;
  CHECK(part.at("partial") == true);
  CHECK_FALSE(part.at("cells")[0].contains("partial"));
  CHECK(part.at("cells")[1].at("partial") == true);
  CHECK_FALSE(part.at("cells")[1].contains("simulated"));
  const Findings resumed = run_config(
      config, [](std::uint64_t) { return Control{}; }, Json::parse(part.dump(1)));
  CHECK(resumed.result.dump() == run(config).result.dump());
}

TEST_CASE("what does not suit a beam search is refused") {
  const auto error = [](const char* more) {
    Json config = parse_json(R"({"title": "t", "experiment": "beam"})");
    config.update(parse_json(more));
    return config_error_of([&] { check_beam(resolve(config)); });
  };
  CHECK(error("{}").empty());
  CHECK(error(R"({"beam": {"width": 4, "draft_width": 4}})").empty());
  CHECK(error(R"({"beam": {"width": 5, "draft_width": 4}})")
            .starts_with("/beam/draft_width: 4 is below the width 5"));
  CHECK(error(R"({"verifier": {"kind": "fault-accept-all"}})").starts_with("/verifier/kind: "));
}

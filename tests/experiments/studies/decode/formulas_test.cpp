#include "experiments/studies/decode/formulas.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "experiments/base/format/json_io.hpp"
#include "experiments/config/config.hpp"
#include "experiments/results/metric_tables.hpp"
#include "tests/experiments/run_of.hpp"

using namespace speclab;

namespace {

double thm_3_8(double alpha, int gamma, double c) {
  return (1 - std::pow(alpha, gamma + 1)) / ((1 - alpha) * (gamma * c + 1));
}

}  // namespace

TEST_CASE("closed forms by name") {
  const FormulaInputs in{0.8, 5, {0.05, 0.1}};
  CHECK(formula(in, Metric::speedup) == doctest::Approx(thm_3_8(0.8, 5, 0.05)).epsilon(1e-12));
  CHECK(formula(in, Metric::tokens_per_target_step) == doctest::Approx(3.68928).epsilon(1e-12));
  // Theorem 3.11.
  CHECK(formula(in, Metric::operations) ==
        doctest::Approx((0.2 * 5 * 0.1 + 0.2 * 6) / (1 - std::pow(0.8, 6))));
  CHECK(formula(in, Metric::alpha_drafted) == doctest::Approx((3.68928 - 1) / 5));
  CHECK(formula(in, Metric::upper_bound_drafting_free) == doctest::Approx(5));
  CHECK(formula(in, Metric::alpha_overlap) == 0.8);
  const double best = formula(in, Metric::best_speedup);
  CHECK(best == doctest::Approx(thm_3_8(0.8, static_cast<int>(formula(in, Metric::optimal_gamma)), 0.05)));
  for (int gamma = 0; gamma <= 64; ++gamma) CHECK(thm_3_8(0.8, gamma, 0.05) <= best * (1 + 1e-12));
}

TEST_CASE("metrics without a finite value are left out") {
  CHECK(std::isnan(formula({1, 5, {0.1, 0}}, Metric::optimal_gamma)));
  CHECK(std::isnan(formula({0.8, 5, {0, 0}}, Metric::optimal_gamma)));
  CHECK(std::isnan(formula({0.8, 0, {0.1, 0}}, Metric::alpha_drafted)));
  for (const FormulaInputs& in :
       {FormulaInputs{1, 5, {0.1, 0}}, {0, 0, {0, 0}}, {1, 64, {0, 0}}, {0.5, 1, {1000, 1000}}}) {
    for (const auto& [metric, value] : formulas(in)) {
      CAPTURE(metric_name(metric));
      CHECK(std::isfinite(value));
    }
  }
}

TEST_CASE("the formula's gamma is not judged beyond the largest simulated one") {
  for (const char* c : {"0.02", "0"}) {
    const Result result =
        run_of(
            parse_json(fmt::format(
                R"({{"title": "t", "experiment": "optimal_gamma", "cost": {{"c": {}}}, "search": {{"max_gamma": 4}},
            "models": {{"target": {{"kind": "table", "rows": [[0.5, 0.3, 0.2]]}},
                       "draft": {{"kind": "table", "rows": [[0.45, 0.3, 0.25]]}}}},
            "simulation": {{"trials": 8, "length": 200}}}})",
                c)))
            .result;
    CHECK(result.cells.front().agreement.empty());
    CHECK(metric_table(result, "t").note.find("beyond the largest simulated") != std::string::npos);
  }
}

TEST_CASE("the interval of the best gamma holds those that the simulation cannot tell from it") {
  // Theorem 3.8: 8 is the best gamma for alpha .8 and c .05. Null: each seed's interval holds it.
  int held = 0;
  int wide = 0;
  for (int seed = 1; seed <= 20; ++seed) {
    const Result result =
        run_of(parse_json(fmt::format(
                   R"({{"title": "t", "experiment": "optimal_gamma", "seed": {}, "cost": {{"c": 0.05}},
            "models": {{"target": {{"kind": "table", "rows": [[0.5, 0.3, 0.2]]}},
                       "draft": {{"kind": "table", "rows": [[0.3, 0.3, 0.4]]}}}},
            "simulation": {{"trials": 8, "length": 100}}}})",
                   seed)))
            .result;
    const Interval& best = *find(result.cells.front().simulated, Metric::optimal_gamma);
    held += best.holds(8) ? 1 : 0;
    wide += best.holds(1) ? 1 : 0;
  }
  CHECK(held >= 18);  // a coverage of .95 has fewer in 1 of 13 sets of seeds; these are fixed
  CHECK(wide == 0);
}

TEST_CASE("the best gamma is certain where every batch agrees") {
  // Equal models accept every token, so that the largest gamma is the best.
  const Result result = run_of(parse_json(R"({"title": "t", "experiment": "optimal_gamma", "cost": {"c": 0.1},
      "models": {"target": {"kind": "table", "rows": [[0.5, 0.5]]}, "draft": {"kind": "table", "rows": [[0.5, 0.5]]}},
      "search": {"max_gamma": 4}, "simulation": {"trials": 8, "length": 100}})"))
                            .result;
  const Interval& best = *find(result.cells.front().simulated, Metric::optimal_gamma);
  CHECK(best.low == 4);
  CHECK(best.high == 4);
}

TEST_CASE("metrics have distinct names and labels, and their former names are no present ones") {
  std::set<std::string> names, labels;
  for (const MetricInfo& one : metric_infos()) {
    CHECK(names.insert(one.name).second);
    CHECK(labels.insert(one.label).second);
    CHECK(metric_named(one.name) == one.metric);
  }
  CHECK_FALSE(metric_named("unheard_of"));
}

TEST_CASE("a printed number reproduces when the formula rounds to it") {
  // Table 4, EnDe, T5-small, T = 0: 3.15 prints as 3.2.
  CHECK(judge_printed({0.75, 7, {0.02, 0}}, Metric::speedup, "3.2", {0, 0}) == Reproduction::reproduces);
  // The number of printed digits matters.
  CHECK(judge_printed({0.8, 5, {0, 0}}, Metric::speedup, "3.69", {0, 0}) == Reproduction::reproduces);
  CHECK(judge_printed({0.8, 5, {0, 0}}, Metric::speedup, "3.7", {0, 0}) == Reproduction::reproduces);
  CHECK(judge_printed({0.8, 5, {0, 0}}, Metric::speedup, "3.70", {0, 0}) == Reproduction::does_not_reproduce);
  CHECK(judge_printed({0.8, 5, {0, 0}}, Metric::speedup, "4", {0, 0}) == Reproduction::reproduces);
}

TEST_CASE("Table 4, EnDe, T5-base, T = 1: 2.4 only for inputs that round to the printed ones") {
  const FormulaInputs in{0.68, 5, {0.04, 0}};
  CHECK(formula(in, Metric::speedup) == doctest::Approx(2.3467).epsilon(1e-4));
  CHECK(judge_printed(in, Metric::speedup, "2.4", {0.005, 0.005}) == Reproduction::within_input_rounding);
  CHECK(judge_printed(in, Metric::speedup, "2.4", {0, 0}) == Reproduction::does_not_reproduce);
  CHECK(judge_printed(in, Metric::speedup, "2.3", {0.005, 0.005}) == Reproduction::reproduces);
  CHECK(judge_printed(in, Metric::speedup, "2.5", {0.005, 0.005}) == Reproduction::does_not_reproduce);
}

TEST_CASE("A.5's 2.5 is out of reach even at the best gamma") {
  const FormulaInputs in{0.62, 5, {0.015, 0}};
  CHECK(formula(in, Metric::best_speedup) < 2.34);
  CHECK(judge_printed(in, Metric::best_speedup, "2.5", {0.005, 0.0005}) == Reproduction::does_not_reproduce);
}

TEST_CASE("a value on the edge of a rounding cell reproduces on either side") {
  // gamma = 1, alpha = 0.5, c = 0: exactly 1.5.
  CHECK(judge_printed({0.5, 1, {0, 0}}, Metric::speedup, "1", {0, 0}) == Reproduction::reproduces);
  CHECK(judge_printed({0.5, 1, {0, 0}}, Metric::speedup, "2", {0, 0}) == Reproduction::reproduces);
}

TEST_CASE("rounded inputs stay in their ranges") {
  CHECK(judge_printed({1, 4, {0, 0}}, Metric::speedup, "5", {0.005, 0.005}) == Reproduction::reproduces);
  CHECK(judge_printed({1, 4, {0, 0}}, Metric::speedup, "4.9", {0.005, 0.005}) ==
        Reproduction::within_input_rounding);
  CHECK(judge_printed({1, 4, {0, 0}}, Metric::speedup, "5.2", {0.005, 0.005}) ==
        Reproduction::does_not_reproduce);
}

TEST_CASE("verdicts in words") {
  CHECK(words(Reproduction::reproduces) == std::string("reproduces"));
  CHECK(words(Reproduction::within_input_rounding) == std::string("within input rounding"));
  CHECK(words(Reproduction::does_not_reproduce) == std::string("does not reproduce"));
}

TEST_CASE("a printed number is judged by its last digit, in either notation") {
  const FormulaInputs in{0.8, 5, {0.05, 0.1}};  // 3.68928 tokens
  const auto judged = [&](const std::string& printed) {
    return judge_printed(in, Metric::tokens_per_target_step, printed, {});
  };
  for (const char* right : {"3.69", "4", "3.689", "3.69e0", "0.369e1", "36.9E-1", "4e+0"})
    CHECK_MESSAGE(judged(right) == Reproduction::reproduces, right);
  for (const char* wrong : {"3.70", "3", "3.68", "3.70e0", "0.37e0", "37.0E-1", "5e+0"})
    CHECK_MESSAGE(judged(wrong) == Reproduction::does_not_reproduce, wrong);
}

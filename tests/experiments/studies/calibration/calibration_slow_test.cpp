// Tests, on a small scale, that the p-values of `check` are uniform and that its power is as predicted.
// configs/calibration.json is the full study.
#include "experiments/results/presentation.hpp"
#include "experiments/studies/calibration/calibration.hpp"

#include <doctest/doctest.h>
#include <tbb/global_control.h>

#include <atomic>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "analysis/statistics/multiple_tests.hpp"
#include "experiments/config/experiment.hpp"
#include "experiments/run/result.hpp"
#include "tests/bounds.hpp"
#include "tests/experiments/run_of.hpp"

using namespace speclab;

namespace {

Json config_of(const std::string& calibration, const std::string& more = "{}") {
  Json config = parse_json(R"({
    "title": "test",
    "experiment": "calibration",
    "models": {"target": {"kind": "markov", "vocab": 4, "concentration": 2, "seed": 4},
               "draft": {"kind": "mixture", "epsilon": 0.5, "other": {"kind": "uniform"}}},
    "gamma": 2,
    "calibration": )" + calibration +
                           "}");
  config["seed"] = test_seed(1900);
  config.update(parse_json(more));
  return config;
}

const std::string small_calibration = R"({"repeats": 200, "samples": 300, "power_repeats": 100,
  "power_samples": [100, 800], "faults": [{"kind": "fault-resample-target"}]})";

const CalibrationResult& calibration_of(const Result& result) {
  return own<CalibrationResult>(result.cells[0]);
}

std::vector<SequenceTests> nulls(bool exact, std::uint32_t repeats) {
  ModelFactory factory;
  const Setup setup = build_setup(read_config(config_of(small_calibration)), factory);
  return repeat_tests(setup, 2, 2,
                      exact ? EqualityReference::exact_distribution : EqualityReference::second_sample, 1000,
                      repeats, 0, Control{});
}

template <class PValue>
double ks_of(const std::vector<SequenceTests>& tests, const PValue& p_value) {
  std::vector<double> values;
  for (const SequenceTests& test : tests) values.push_back(p_value(test));
  return kolmogorov_smirnov(values).p;
}

/// Returns the p-value of a statistic with one degree of freedom too many.
double with_wrong_degrees(FitTest test) {
  FitTest one;
  one.degrees = 1;
  return sum_of_tests(std::vector<FitTest>{test, one}).pearson_p;
}

}  // namespace

TEST_CASE("p-values under the null are uniform; those of a wrong statistic are not") {
  // Null: 2,000 checks of token verification, 1,000 sequences of two tokens each. Eight KS tests at 1e-11,
  // and rejections at .05 at seven sigma. Power: one degree of freedom too many (4, not 3, for the first
  // token) moves the distribution by .15, and .08 is found.
  for (const bool exact : {true, false}) {
    CAPTURE(exact);
    const std::vector<SequenceTests> tests = nulls(exact, 2000);
    REQUIRE(tests.size() == 2000);
    CHECK(ks_of(tests, [](const SequenceTests& t) { return t.joint.pearson_p; }) > p_value_bound);
    CHECK(ks_of(tests, [](const SequenceTests& t) { return t.joint.g_p; }) > p_value_bound);
    for (const std::size_t i : {0U, 1U}) {
      CHECK(ks_of(tests, [i](const SequenceTests& t) { return t.positions[i].sum.pearson_p; }) >
            p_value_bound);
    }
    CHECK(ks_of(tests, [](const SequenceTests& t) { return with_wrong_degrees(t.positions[0].sum); }) <
          p_value_bound);
    int verdicts = 0;
    int pearson = 0;
    for (const SequenceTests& test : tests) {
      verdicts += test.adjusted_p() <= 0.05 ? 1 : 0;
      pearson += test.joint.pearson_p <= 0.05 ? 1 : 0;
    }
    CHECK(count_agrees(pearson, 2000, 0.05));
    CHECK(verdicts <= 2000 * (0.05 + bound_in_sigmas * std::sqrt(0.05 * 0.95 / 2000)));
    CHECK(verdicts > 0);
  }
}

TEST_CASE("every repeat has samples of its own") {
  std::set<double> statistics;
  for (const SequenceTests& test : nulls(true, 500)) statistics.insert(test.joint.g);
  CHECK(statistics.size() == 500);
}

TEST_CASE("power: the simulated rate is that of the noncentral law at the enumerated effect") {
  // Null: rejections are Binomial(400, predicted). The tolerance is seven sigma (.17 at most) and .04,
  // because the noncentral distribution is a limit for small effects. Power: twice the samples have another
  // prediction.
  const Result result = run_of(config_of(R"({"repeats": 20, "samples": 300, "power_repeats": 400,
    "power_samples": [400, 1600], "faults": [{"kind": "fault-resample-target"}, {"kind": "lenient", "lenience": 0.8}]})"))
                            .result;
  const CalibrationResult& calibration = calibration_of(result);
  REQUIRE(calibration.power.size() == 2);
  const auto plausible = [](double rate, double predicted) {
    return std::abs(rate - predicted) <=
           bound_in_sigmas * std::sqrt(predicted * (1 - predicted) / 400) + 0.04;
  };
  for (const FaultPower& fault : calibration.power) {
    CAPTURE(fault.rule.name());
    CHECK(fault.total_variation > 0.02);
    for (const PowerPoint& point : fault.points) {
      CHECK(plausible(point.pearson.estimate, point.predicted));
      CHECK(plausible(point.g.estimate, point.predicted));
    }
    CHECK_FALSE(plausible(fault.points[0].pearson.estimate, fault.points[1].predicted));
    // The line passes through the predictions of the points.
    CHECK(fault.line.power.front() == fault.points[0].predicted);
    CHECK(fault.line.power.back() == fault.points[1].predicted);
  }
}

TEST_CASE("a result: the same bytes at one thread and at two, and every number in its place") {
  for (const char* against : {"exact_distribution", "second_sample"}) {
    Json config = config_of(small_calibration);
    config["calibration"]["against"] = against;
    const auto bytes = [&](std::size_t threads) {
      const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
      return bytes_of(run_of(config).result);
    };
    const std::string once = bytes(1);
    CHECK(once == bytes(2));
    const Result result = read_result(parse_json(once));
    CHECK(bytes_of(result) == once);
    const std::vector<NullDistribution>& null = calibration_of(result).null;
    REQUIRE(null.size() == 4);
    for (const NullDistribution& each : null) {
      const std::vector<std::uint64_t>& ecdf = each.ecdf;
      CHECK(ecdf.back() == 200);
      for (std::size_t i = 1; i < ecdf.size(); ++i) CHECK(ecdf[i] >= ecdf[i - 1]);
      // .1, .05 and .01 are on the grid of the distribution.
      for (const auto& [rejection, step] : {std::pair{0U, 20U}, {1U, 10U}, {2U, 2U}}) {
        CHECK(each.rejections[rejection].rate.estimate * 200 ==
              doctest::Approx(static_cast<double>(ecdf[step])));
      }
    }
  }
}

TEST_CASE("tables and figures of a calibration") {
  const Result result = run_of(config_of(small_calibration)).result;
  CHECK(tables_of(result, {}, "t").size() == 2);
  CHECK(figures_of(result, Timings{}).size() == 3);
}

TEST_CASE("the headline says that the test holds its level only where every rate does") {
  Result result = run_of(config_of(small_calibration)).result;
  CalibrationResult found = calibration_of(result);
  for (NullDistribution& each : found.null) {
    for (RejectionRate& rejection : each.rejections)
      rejection.rate = {rejection.level, rejection.level / 2, 2 * rejection.level};
  }
  result.cells[0].own = found;
  CHECK(presentation_of(result.shown()).headline(result, {}).find("as often as it says: 16 of 16") !=
        std::string::npos);
  found.null.front().rejections.front().rate = {0.5, 0.4, 0.6};
  result.cells[0].own = found;
  CHECK(presentation_of(result.shown()).headline(result, {}).find("as often as it says") ==
        std::string::npos);
  CHECK(presentation_of(result.shown()).headline(result, {}).find("15 of 16") != std::string::npos);
  result.cells[0].own = {};
  CHECK(presentation_of(result.shown()).headline(result, {}).starts_with("Interrupted"));
}

TEST_CASE("progress adds up to the announced work, and a stop leaves a partial result") {
  std::atomic<std::uint64_t> done{0};
  const Json config = config_of(small_calibration);
  const std::uint64_t announced = measure_workload(read_config(config)).steps;
  CHECK(announced == 200 * 300 + 100 * 900);
  Control control;
  control.progress = [&](std::uint64_t steps) { done += steps; };
  run_of(config, control);
  CHECK(done == announced);

  done = 0;
  control.stop = [&] { return done > announced / 2; };
  const Result part = run_of(config, control).result;
  CHECK(part.partial);
  CHECK(part.cells[0].partial);
  CHECK(part.cells[0].own == nullptr);
}

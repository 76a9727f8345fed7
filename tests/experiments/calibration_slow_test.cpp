// Are the check's p-values uniform, and is its power as predicted? In small; configs/calibration.json is the
// whole.
#include "experiments/calibration.hpp"

#include <doctest/doctest.h>
#include <tbb/global_control.h>

#include <atomic>
#include <cmath>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "analysis/statistics/multiple_tests.hpp"
#include "experiments/format/document.hpp"
#include "experiments/format/validate.hpp"
#include "experiments/laboratory.hpp"
#include "tests/bounds.hpp"

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

Json run(const Json& config, const Control& control = {}) {
  return run_config(config, [&](std::uint64_t) { return control; }).result;
}

std::vector<SequenceTests> nulls(bool exact, std::uint32_t repeats) {
  Registry registry;
  const Setup setup = registry.build(resolve(config_of(small_calibration)));
  return repeat_tests(setup, 2, 2, exact, 1000, repeats, 0, Control{});
}

template <class PValue>
double ks_of(const std::vector<SequenceTests>& tests, const PValue& p_value) {
  std::vector<double> values;
  for (const SequenceTests& test : tests) values.push_back(p_value(test));
  return kolmogorov_smirnov(values).p;
}

/// The p-value of a statistic that counts one degree too many.
double with_wrong_degrees(FitTest test) {
  FitTest one;
  one.degrees = 1;
  return sum_of_tests(std::vector<FitTest>{test, one}).pearson_p;
}

}  // namespace

TEST_CASE("p-values under the null are uniform; those of a wrong statistic are not") {
  // Null: 2,000 checks of token verification, 1,000 sequences of two tokens each. Eight KS tests at 1e-11,
  // and rejections at .05 at seven sigma. Power: one degree of freedom too many (4, not 3, for the first
  // token) moves the distribution by .15, where .08 is found.
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
  // Null: rejections are Binomial(400, predicted). Seven sigma (.17 at most), and .04 because the
  // distribution is a limit for small effects. Power: twice the samples would be predicted otherwise.
  const Json result = run(config_of(R"({"repeats": 20, "samples": 300, "power_repeats": 400,
    "power_samples": [400, 1600], "faults": [{"kind": "fault-resample-target"}, {"kind": "lenient", "lenience": 0.7}]})"));
  const Json& calibration = result.at("cells")[0].at("calibration");
  REQUIRE(calibration.at("power").size() == 2);
  const auto plausible = [](double rate, double predicted) {
    return std::abs(rate - predicted) <=
           bound_in_sigmas * std::sqrt(predicted * (1 - predicted) / 400) + 0.04;
  };
  for (const Json& fault : calibration.at("power")) {
    CAPTURE(fault.dump());
    CHECK(fault.at("total_variation").get<double>() > 0.02);
    for (const Json& point : fault.at("points")) {
      for (const char* statistic : {"pearson", "g"}) {
        CHECK(plausible(point.at(statistic)[0].get<double>(), point.at("predicted").get<double>()));
      }
    }
    const Json& points = fault.at("points");
    CHECK_FALSE(plausible(points[0].at("pearson")[0].get<double>(), points[1].at("predicted").get<double>()));
    // The line runs through the predictions of the points.
    const Json& line = fault.at("line").at("power");
    CHECK(line.front() == points[0].at("predicted"));
    CHECK(line.back() == points[1].at("predicted"));
  }
}

TEST_CASE("a result: the same bytes at one thread and at two, and every number in its place") {
  for (const char* against : {"exact_law", "second_sample"}) {
    Json config = config_of(small_calibration);
    config["calibration"]["against"] = against;
    const auto bytes = [&](std::size_t threads) {
      const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
      return run(config).dump();
    };
    const std::string once = bytes(1);
    CHECK(once == bytes(2));
    const Json cell = Json::parse(once).at("cells")[0];
    const Json& null = cell.at("calibration").at("null");
    REQUIRE(null.size() == 4);
    for (const Json& each : null) {
      const Json& ecdf = each.at("ecdf");
      CHECK(ecdf.back() == 200);
      for (std::size_t i = 1; i < ecdf.size(); ++i) CHECK(ecdf[i] >= ecdf[i - 1]);
      // .1, .05 and .01 lie on the grid of the distribution.
      for (const auto& [rejection, step] : {std::pair{0, 20}, {1, 10}, {2, 2}}) {
        CHECK(each.at("rejections")[static_cast<std::size_t>(rejection)].at("rate")[0].get<double>() * 200 ==
              doctest::Approx(ecdf[static_cast<std::size_t>(step)].get<double>()));
      }
    }
  }
}

TEST_CASE("progress adds up to the announced work, and a stop leaves a partial result") {
  std::atomic<std::uint64_t> done{0};
  std::uint64_t announced = 0;
  const Json config = config_of(small_calibration);
  run_config(config, [&](std::uint64_t total) {
    announced = total;
    Control control;
    control.progress = [&](std::uint64_t steps) { done += steps; };
    return control;
  });
  CHECK(announced == 200 * 300 + 100 * 900);
  CHECK(done == announced);
  CHECK(measure_workload(config).steps == announced);

  done = 0;
  Control control;
  control.progress = [&](std::uint64_t steps) { done += steps; };
  control.stop = [&] { return done > announced / 2; };
  const Json part = run(config, control);
  CHECK(part.at("partial") == true);
  CHECK(part.at("cells")[0].at("partial") == true);
  CHECK_FALSE(part.at("cells")[0].contains("calibration"));
}

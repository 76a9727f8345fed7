#include "experiments/laboratory.hpp"

#include <doctest/doctest.h>
#include <tbb/global_control.h>

#include <atomic>
#include <cmath>
#include <string>

#include "experiments/equality_check.hpp"
#include "experiments/format/document.hpp"
#include "tests/bounds.hpp"

using namespace speclab;

namespace {

/// A decode at one exact alpha; small enough for many of them.
Json config_of(const std::string& more) {
  Json config = parse_json(R"({
    "title": "test",
    "experiment": "decode",
    "seed": 20231,
    "models": {"target": {"kind": "zipf", "vocab": 32},
               "draft": {"kind": "mixture", "alpha": 0.8, "other": {"kind": "zipf", "reversed": true}}},
    "gamma": 3,
    "plan": {"trials": 64, "length": 1000},
    "confidence": 0.9999999, "simultaneous": true
  })");
  config["seed"] = test_seed(20231);
  config.update(parse_json(more));
  return config;
}

Json run(const Json& config) {
  return run_config(config, [](std::uint64_t) { return Control{}; }).result;
}

std::string bytes(const Json& config, std::size_t threads) {
  const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
  return run(config).dump();
}

bool contains(const Json& interval, double value) {
  return interval[1].get<double>() <= value && value <= interval[2].get<double>();
}

const std::string markov_models = R"("models": {
    "target": {"kind": "markov", "vocab": 8, "concentration": 0.5, "seed": 3},
    "draft": {"kind": "mixture", "epsilon": 0.5, "other": {"kind": "uniform"}}})";

EqualityReport checked(const std::string& verifier, const std::string& more = "{}") {
  Json config = parse_json(R"({"title": "test", "gamma": 3, "seed": 7,
    "check": {"tokens": 3, "samples": 100000, "level": 1e-9, "power": 0.99},
    "verifier": )" + verifier +
                           ", " + markov_models + "}");
  config["seed"] = test_seed(7);
  config.update(parse_json(more));
  return check_equality(config);
}

}  // namespace

TEST_CASE("a result has the same bytes at one thread and at two") {
  for (const std::string& more :
       {std::string(R"({"sweep": {"/gamma": [1, 4], "/models/draft/alpha": [0.6, 0.9]}})"),
        R"({"experiment": "acceptance", )" + markov_models + "}",
        R"({"experiment": "optimal_gamma", "cost": {"c": 0.1, "c_hat": 0.1}, "search": {"max_gamma": 6}})" +
            std::string(),
        std::string(R"({"experiment": "trace"})")}) {
    CAPTURE(more);
    const Json config = config_of(more);
    CHECK(bytes(config, 1) == bytes(config, 2));
  }
}

TEST_CASE("cells of Table 1: the simulated intervals hold the formulas") {
  // Null: every formula is the mean of what is estimated. The intervals of all cells hold together with
  // confidence 1 - 1e-7, the most that the format allows (Sidak, Student's t over 64 batches).
  const Json result = run(config_of(R"({
    "cases": [{"label": "a", "set": {"/models/draft/alpha": 0.6, "/gamma": 2}, "printed": {"operations": "1.53", "speed": "1.96"}},
              {"label": "b", "set": {"/models/draft/alpha": 0.8, "/gamma": 5}, "printed": {"operations": "1.63", "speed": "3.69"}},
              {"label": "c", "set": {"/models/draft/alpha": 0.9, "/gamma": 10}, "printed": {"operations": "1.60", "speed": "9.99"}}]
  })"));
  REQUIRE(result.at("cells").size() == 3);
  CHECK(result.at("partial") == false);
  for (const Json& cell : result.at("cells")) {
    CAPTURE(cell.dump());
    CHECK(cell.at("agreement").size() == 6);
    for (const auto& [metric, agrees] : cell.at("agreement").items()) {
      CAPTURE(metric);
      CHECK(agrees == true);
      CHECK(contains(cell.at("simulated").at(metric), cell.at("formula").at(metric).get<double>()));
    }
    CHECK(cell.at("counts").at("rounds") == 64000);
    CHECK(cell.at("verdict").at("operations") == "reproduces");
  }
  CHECK(result.at("cells")[1].at("formula").at("speed").get<double>() == doctest::Approx(3.68928));
  CHECK(result.at("cells")[1].at("verdict").at("speed") == "reproduces");
  CHECK(result.at("cells")[2].at("verdict").at("speed") == "does not reproduce");
  // Power: a simulation at alpha = .78 is told from the formula at .8.
  const Json other = run(config_of(R"({"gamma": 5, "models": {"target": {"kind": "zipf", "vocab": 32},
    "draft": {"kind": "mixture", "alpha": 0.78, "other": {"kind": "zipf", "reversed": true}}}})"));
  CHECK_FALSE(contains(other.at("cells")[0].at("simulated").at("tokens_per_round"), 3.68928));
}

TEST_CASE("a planted fault is caught by the agreement of a decode") {
  // Resampling the target keeps acceptance i.i.d., and so the formulas: this fault is for `check` to find. A
  // rule that accepts everything changes alpha itself. What the agreement must catch is a wrong alpha, above.
  const Json result = run(config_of(R"({"verifier": {"kind": "fault-accept-all"}})"));
  CHECK(result.at("cells")[0].at("exact_alpha") == doctest::Approx(1));
  CHECK(result.at("cells")[0].at("simulated").at("tokens_per_round")[0] == 4);
}

TEST_CASE("cells that differ in cost alone share one simulation") {
  const Json config = config_of(R"({"sweep": {"/cost/c": [0, 0.05, 0.2]}})");
  const Workload work = measure_workload(config);
  CHECK(work.cells == 3);
  CHECK(work.steps == 64000);
  const Json result = run(config);
  const Json& cells = result.at("cells");
  for (const Json& cell : cells) {
    for (const char* metric : {"alpha_overlap", "alpha_examined", "tokens_per_round", "memory_accesses"}) {
      CHECK(cell.at("simulated").at(metric) == cells[0].at("simulated").at(metric));
    }
  }
  CHECK(cells[0].at("simulated").at("speed")[0] > cells[2].at("simulated").at("speed")[0]);
  CHECK(measure_workload(config_of(R"({"sweep": {"/gamma": [1, 2, 3]}})")).steps == 3 * 64000);
  CHECK(measure_workload(config_of(R"({"sweep": {"/models/draft/alpha": [0.6, 0.7]}})")).steps == 2 * 64000);
}

TEST_CASE("optimal_gamma: the simulated optimum agrees with the formula's") {
  const Json result = run(config_of(
      R"({"experiment": "optimal_gamma", "cost": {"c": 0.1, "c_hat": 0.1}, "search": {"max_gamma": 10}})"));
  const Json& cell = result.at("cells")[0];
  CAPTURE(cell.dump());
  CHECK(cell.at("speed_by_gamma").size() == 11);
  CHECK(cell.at("agreement").at("optimal_gamma") == true);
  CHECK(cell.at("capped") == false);
  CHECK(std::abs(cell.at("simulated").at("optimal_gamma")[0].get<double>() - 5) <= 1);
}

TEST_CASE("batches that do not divide the rounds are estimates all the same") {
  const Json result = run(config_of(R"({"plan": {"trials": 5, "length": 13, "batches": 64}})"));
  CHECK(result.at("cells")[0].contains("simulated"));
  CHECK(result.at("partial") == false);
}

TEST_CASE("stopped from the start: partial, and no numbers") {
  for (const char* experiment : {"decode", "acceptance", "optimal_gamma"}) {
    const Json config = config_of(std::string(R"({"experiment": ")") + experiment + "\"}");
    const Findings findings = run_config(config, [](std::uint64_t) {
      Control control;
      control.stop = [] { return true; };
      return control;
    });
    CHECK(findings.result.at("partial") == true);
    CHECK(findings.result.at("cells")[0].at("partial") == true);
    CHECK_FALSE(findings.result.at("cells")[0].contains("simulated"));
  }
}

TEST_CASE("an interrupted run goes on where it stopped, to the same bytes") {
  const Json config = config_of(R"({"sweep": {"/gamma": [1, 2, 3, 4, 5, 6, 7, 8]}})");
  const Json complete = run(config);
  std::atomic<std::uint64_t> done{0};
  const Json part = run_config(config, [&](std::uint64_t total) {
                      Control control;
                      control.progress = [&](std::uint64_t steps) { done += steps; };
                      control.stop = [&done, total] { return done > total / 2; };
                      return control;
                    }).result;
  REQUIRE(part.at("partial") == true);

  std::uint64_t left = 0;
  const auto count_work = [&](std::uint64_t total) {
    left = total;
    return Control{};
  };
  run_config(config, count_work);
  const std::uint64_t whole = left;
  // Through text, as from a file.
  const Json resumed = run_config(config, count_work, Json::parse(part.dump(1))).result;
  CHECK(resumed.dump(1) == complete.dump(1));
  CHECK(left > 0);
  CHECK(left < whole);

  // Results of another config are of no use to this one.
  const Json other = config_of(R"({"seed": 99, "sweep": {"/gamma": [1, 2, 3, 4, 5, 6, 7, 8]}})");
  CHECK(run_config(other, count_work, part).result.dump() == run(other).dump());
  CHECK(left == whole);
}

TEST_CASE("progress adds up to the announced total") {
  std::atomic<std::uint64_t> done{0};
  std::uint64_t announced = 0;
  run_config(config_of(R"({"sweep": {"/gamma": [1, 2]}})"), [&](std::uint64_t total) {
    announced = total;
    Control control;
    control.progress = [&](std::uint64_t more) { done += more; };
    return control;
  });
  CHECK(announced == 2 * 64000);
  CHECK(done == announced);
}

TEST_CASE("check accepts token verification, and rejects each planted fault on the same budget") {
  // Null: both samples have one distribution. Level 1e-9 a check. 512 sequences of three tokens.
  CHECK_FALSE(checked(R"({"kind": "token"})").different());
  CHECK_FALSE(
      checked(R"({"kind": "token"})", R"({"sampling": {"temperature": 0.7, "top_p": 0.9}})").different());
  CHECK_FALSE(checked(R"({"kind": "lenient", "lenience": 1})").different());
  for (const char* verifier :
       {R"({"kind": "fault-accept-all"})", R"({"kind": "fault-resample-target"})",
        R"({"kind": "fault-swapped-residual"})", R"({"kind": "lenient", "lenience": 0.5})",
        R"({"kind": "lenient", "lenience": 0.5, "residual": "literal"})",
        R"({"kind": "lenient", "lenience": 0.5, "residual": "target"})"}) {
    CAPTURE(std::string(verifier));
    CHECK(checked(verifier).different());
  }
  const EqualityReport report = checked(R"({"kind": "token"})");
  CHECK(report.exact);
  CHECK(report.tests.joint.degrees > 100);
  CHECK(report.detectable_distance < 0.03);
  // The planned samples, taken as the budget, detect what they were planned for: degrees grow a little with
  // the samples, so within a tenth.
  const std::string planned = R"({"check": {"tokens": 3, "level": 1e-9, "power": 0.99, "samples": )" +
                              std::to_string(report.samples_for_one_percent) + "}}";
  CHECK(checked(R"({"kind": "token"})", planned).detectable_distance == doctest::Approx(0.01).epsilon(0.1));
}

TEST_CASE("check falls back to a second sample where the law is too large, with less power") {
  const std::string many = R"({"check": {"tokens": 6, "samples": 20000, "level": 1e-9, "power": 0.99}})";
  const EqualityReport report = checked(R"({"kind": "token"})", many);
  CHECK_FALSE(report.exact);
  CHECK_FALSE(report.different());
  CHECK(report.tests.positions.size() == 6);
  CHECK(report.tests.positions[0].covered == 1);
  CHECK(checked(R"({"kind": "fault-resample-target"})", many).different());
}

TEST_CASE("check, stopped: no verdict") {
  const Json config = parse_json(R"({"title": "test", )" + markov_models + "}");
  std::uint64_t announced = 0;
  const EqualityReport report = check_equality(config, [&](std::uint64_t total) {
    announced = total;
    Control control;
    control.stop = [] { return true; };
    return control;
  });
  CHECK(announced == 200000);
  CHECK(report.partial);
  CHECK_FALSE(report.different());
}

TEST_CASE("check at temperature 0: one sequence, and a rule that keeps everything leaves it") {
  const std::string argmax = R"({"sampling": {"temperature": 0}, "models": {
    "target": {"kind": "markov", "vocab": 8, "concentration": 0.5, "seed": 3},
    "draft": {"kind": "markov", "vocab": 8, "concentration": 0.5, "seed": 4}}})";
  CHECK_FALSE(checked(R"({"kind": "token"})", argmax).different());
  CHECK_FALSE(checked(R"({"kind": "lenient-greedy", "lenience": 1})", argmax).different());
  CHECK(checked(R"({"kind": "lenient-greedy", "lenience": 0.05})", argmax).different());
  CHECK(checked(R"({"kind": "fault-accept-all"})", argmax).different());
}

// Which engine a config's decoding runs on, and that it does not matter for what is found.
#include <doctest/doctest.h>
#include <tbb/global_control.h>

#include <string>

#include "experiments/format/document.hpp"
#include "experiments/laboratory.hpp"

using namespace speclab;

namespace {

Json config_of(const std::string& more) {
  Json config = parse_json(R"({
    "title": "test",
    "seed": 3,
    "models": {"target": {"kind": "markov", "vocab": 12, "concentration": 0.5, "seed": 1},
               "draft": {"kind": "mixture", "epsilon": 0.4, "other": {"kind": "uniform"}}},
    "gamma": 4,
    "plan": {"trials": 64, "length": 500},
    "confidence": 0.9999999, "simultaneous": true
  })");
  config.update(parse_json(more));
  return config;
}

Json run(const Json& config) {
  return run_config(config, [](std::uint64_t) { return Control{}; }).result.at("cells").at(0);
}

bool overlap_each_other(const Json& a, const Json& b) {
  return a[1].get<double>() <= b[2].get<double>() && b[1].get<double>() <= a[2].get<double>();
}

}  // namespace

TEST_CASE("auto takes the quick engine where it pays, and results name the engine") {
  CHECK(run(config_of("{}")).at("engine").at("name") == "quick");
  CHECK(run(config_of("{}")).at("engine").at("random_blocks").get<std::uint64_t>() > 64 * 500);
  CHECK(run(config_of(R"({"engine": "plain"})")).at("engine") == Json{{"name", "plain"}});
  CHECK(run(config_of(R"({"plan": {"trials": 1, "length": 95, "batches": 2}})")).at("engine").at("name") ==
        "plain");
  CHECK(run(config_of(R"({"engine": "quick", "plan": {"trials": 1, "length": 95, "batches": 2}})"))
            .at("engine")
            .at("name") == "quick");
  CHECK(run(config_of(R"({"verifier": {"kind": "block"}})")).at("engine").at("name") == "plain");
}

TEST_CASE("both engines find the same: intervals of each metric overlap, at a joint confidence of 1 - 1e-7") {
  for (const char* verifier : {R"({"kind": "token"})", R"({"kind": "lenient", "lenience": 0.5})"}) {
    const std::string with = std::string(R"("verifier": )") + verifier + "}";
    const Json fast = run(config_of(R"({"engine": "quick", )" + with));
    const Json plain = run(config_of(R"({"engine": "plain", )" + with));
    for (const auto& [metric, interval] : fast.at("simulated").items()) {
      INFO(metric);
      CHECK(overlap_each_other(interval, plain.at("simulated").at(metric)));
    }
    // A rule that accepts otherwise does not pass for the same.
    const Json other =
        run(config_of(R"({"engine": "plain", "verifier": {"kind": "lenient", "lenience": 0.7}})"));
    CHECK(!overlap_each_other(fast.at("simulated").at("alpha_examined"),
                              other.at("simulated").at("alpha_examined")));
  }
}

TEST_CASE("one result at any number of threads, with several cells of one set-up") {
  const Json config =
      config_of(R"({"sweep": {"/gamma": [0, 1, 2, 3, 8], "/models/draft/epsilon": [0.1, 0.9]}})");
  const auto bytes = [&](std::size_t threads) {
    const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
    return run_config(config, [](std::uint64_t) { return Control{}; }).result.dump();
  };
  CHECK(bytes(1) == bytes(2));
  CHECK(bytes(1) == bytes(5));
}

TEST_CASE("i.i.d. rounds need no models and hold the formula") {
  const Json cell = run(parse_json(R"({"title": "test", "experiment": "iid", "alpha": 0.7, "gamma": 6,
    "cost": {"c": 0.1}, "plan": {"trials": 64, "length": 5000}, "confidence": 0.9999999})"));
  CHECK(cell.at("engine").at("name") == "iid");
  CHECK(cell.at("exact_alpha") == 0.7);
  CHECK(cell.at("counts").at("rounds") == 64 * 5000);
  for (const auto& [metric, inside] : cell.at("agreement").items()) {
    INFO(metric);
    CHECK(inside.get<bool>());
  }
}

#include "serving/advisor/config_plan.hpp"

#include <doctest/doctest.h>

#include <boost/algorithm/string/replace.hpp>
#include <nlohmann/json.hpp>
#include <string>

#include "experiments/base/format/config_error.hpp"
#include "experiments/base/format/json_io.hpp"
#include "experiments/config/config.hpp"

using namespace speclab;

namespace {

ConfigCase case_of(const std::string& file, double confidence = 0.95) {
  const Json config = parse_json(read_text(std::string(SPECLAB_SOURCE_DIR) + "/configs/" + file));
  return config_case(read_config(config), confidence, {}).value();
}

}  // namespace

TEST_CASE("models of one exact alpha are not run, and models with context are measured") {
  const ConfigCase exact = case_of("first.json");
  CHECK(exact.acceptance.from == "the models, exactly");
  CHECK(exact.acceptance.alpha.estimate == doctest::Approx(0.8));

  // The expected alpha is that of the chain over contexts, by `speclab exact` at the measured gamma. The
  // interval has coverage 1 - 1e-9, so it must contain it.
  const ConfigCase markov = case_of("exact_markov.json", 1 - 1e-9);
  Json config = parse_json(read_text(std::string(SPECLAB_SOURCE_DIR) + "/configs/exact_markov.json"));
  constexpr double alpha = 0.6366549580046323;
  CHECK(markov.acceptance.alpha.low <= alpha);
  CHECK(alpha <= markov.acceptance.alpha.high);
  CHECK(markov.acceptance.alpha.half_width() < 0.05);
  const DrafterPlan plan =
      make_plan({{.costs = {ConstantCost{1}, ConstantCost{0.05}}}, markov.acceptance}, {});
  CHECK(plan.best.by == AcceptanceModel::positions);
  CHECK(plan.log->positions.size() == 8);
  config["rule"] = {{"kind", "block"}};
  CHECK_THROWS_AS(config_case(read_config(config), 0.95, {}), ConfigError);
}

TEST_CASE("a plan decodes a recording, whatever the config measures of it") {
  const std::string source = SPECLAB_SOURCE_DIR;
  Json config = parse_json(read_text(source + "/configs/paper/neural-table3.json"));
  config.erase("metrics");
  config.erase("cases");
  const std::string text =
      boost::algorithm::replace_all_copy(config.dump(), "configs/recorded", source + "/configs/recorded");
  const auto alpha = [&](const char* experiment) {
    Json asked = parse_json(text);
    asked["experiment"] = experiment;
    return config_case(read_config(asked), 0.95, {})->acceptance.alpha.estimate;
  };
  CHECK(alpha("acceptance") == alpha("decode"));
}

TEST_CASE("a sweep over gamma is one case, and other axes are refused") {
  Json config = parse_json(
      R"({"title": "t", "experiment": "predict", "alpha": 0.5, "cost": {"c": 0.1}, "sweep": {"/gamma": [1, 2, 3]}})");
  const ConfigCase one = config_case(read_config(config), 0.95, {}).value();
  CHECK(one.acceptance.alpha.estimate == 0.5);
  CHECK(one.c == 0.1);
  config["sweep"]["/alpha"] = {0.5, 0.7};
  CHECK_THROWS_AS(config_case(read_config(config), 0.95, {}), ConfigError);
  config["sweep"].erase("/alpha");
  config.erase("alpha");
  CHECK_THROWS_AS(config_case(read_config(config), 0.95, {}), ConfigError);
}

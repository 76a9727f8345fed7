// A config as plain structs: what a JSON file says, checked, with every default. Nothing behind reads JSON.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "analysis/statistics/estimates.hpp"
#include "experiments/catalog/models/corpus_config.hpp"
#include "experiments/catalog/models/model_kind.hpp"
#include "experiments/catalog/rules/rule_kind.hpp"
#include "experiments/config/config_types.hpp"
#include "experiments/config/shown_config.hpp"
#include "experiments/config/simulation_config.hpp"

namespace speclab {

struct ModelPair {
  ModelConfig target;
  ModelConfig draft;
};

/// Half a unit of the last printed digit of the inputs.
struct InputRounding {
  double alpha = 0;
  double c = 0;
};

/// What copies and destroys it is compiled once. The experiment is decode unless the config says otherwise.
struct Config : ShownConfig {
  Config();
  Config(const Config&);
  Config(Config&&) noexcept;
  Config& operator=(const Config&);
  Config& operator=(Config&&) noexcept;
  ~Config();

  std::optional<CorpusConfig> corpus;
  std::optional<ModelPair> models;
  Adjustment sampling;
  RuleConfig rule;  ///< token verification unless the config says otherwise
  Engine engine = Engine::automatic;
  std::optional<double> alpha;
  std::int32_t gamma = 5;
  CostRatios cost;
  SimulationConfig simulation;
  std::optional<InputRounding> input_rounding;
  /// What read_config read this from: cells set values in it by path. Null for configs made otherwise.
  std::shared_ptr<const Json> input;
};

/// Reads and checks a config. Throws ConfigError for unknown keys, wrong types, values out
/// of range and missing keys, with the JSON path.
Config read_config(const Json& input);

/// For verbs that look at one configuration: throws ConfigError for a config that stands for many. `what`
/// says who does what: "check tests".
void refuse_many_cells(const Config& config, const std::string& what);

}  // namespace speclab

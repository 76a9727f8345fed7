// A config as plain structs: its JSON file, checked, with every default. Later code reads no JSON.
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

/// Half a unit of the last printed digit of each input.
struct InputRounding {
  double alpha = 0;
  double c = 0;
};

/// A config; its experiment is decode by default. Its copy operations and destructor are compiled once.
struct Config : ShownConfig {
  Config();
  Config(const Config&);
  Config(Config&&) noexcept;
  Config& operator=(const Config&);
  Config& operator=(Config&&) noexcept;
  ~Config();

  std::optional<CorpusConfig> corpus;
  std::optional<ModelPair> models;
  RequestLaw sampling;
  RuleConfig rule;  ///< default: token verification
  Engine engine = Engine::automatic;
  std::optional<double> alpha;
  std::int32_t gamma = 5;
  CostRatios cost;
  SimulationConfig simulation;
  std::optional<InputRounding> input_rounding;
  /// The JSON that read_config read; cells set values in it by path. Null for configs made otherwise.
  std::shared_ptr<const Json> input;
};

/// The config of a cell, and its row of printed values.
struct CellSpec : CaseConfig {
  Config config;
};

/// Reads and checks a config. Throws ConfigError, with the JSON path, for unknown or missing keys, wrong
/// types, and values out of range.
Config read_config(const Json& input);

/// Throws ConfigError if a config has several cells, for verbs that take one. `what` begins the message:
/// "check tests".
void refuse_many_cells(const Config& config, const std::string& what);

}  // namespace speclab

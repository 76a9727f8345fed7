// Runs configs in tests.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "experiments/base/format/json_io.hpp"
#include "experiments/config/config.hpp"
#include "experiments/config/experiment.hpp"
#include "experiments/run/run_config.hpp"

namespace speclab {

inline RunResult run_of(const Json& config, const Control& control = {}) {
  return run_config(read_config(config), [&](std::uint64_t) { return control; });
}

/// Returns what a config's experiment reads of it, for tests that run several experiments on one base.
inline Json read_part(Json config) {
  const Experiment& experiment = *find_experiment(config.value("experiment", "decode"));
  const auto leave_out = [&, models = config.contains("models")](Json& object, const std::string& before) {
    const Json all = object;
    for (const auto& [key, value] : all.items()) {
      if (!reads_key(experiment, before + key, models)) object.erase(key);
    }
  };
  leave_out(config, "");
  for (const char* key : {"simulation", "cost"}) {
    if (config.contains(key)) leave_out(config[key], key + std::string("/"));
  }
  return config;
}

/// Returns a `resume` that continues `part`, the result of an interrupted run.
inline auto going_on_from(const Result& part) {
  return [&part](const RunIdentity&) {
    Resumption resumption;
    for (std::size_t i = 0; i < part.cells.size(); ++i) {
      if (!part.cells[i].partial) resumption.finished[i] = part.cells[i];
    }
    return resumption;
  };
}

inline std::string bytes_of(const Result& result) { return result_json(result).dump(1); }

}  // namespace speclab

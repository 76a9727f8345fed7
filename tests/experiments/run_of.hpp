// Runs configs in tests.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "experiments/base/format/json_io.hpp"
#include "experiments/config/config.hpp"
#include "experiments/config/experiment.hpp"
#include "experiments/config/read_keys.hpp"
#include "experiments/run/run_config.hpp"

namespace speclab {

inline RunResult run_of(const Json& config, const Control& control = {}) {
  return run_config(read_config(config), [&](std::uint64_t) { return control; });
}

/// Returns what a config's experiment reads of it, for tests that run several experiments on one base.
inline Json read_part(const Json& config) {
  return read_part(*find_experiment(config.value("experiment", "decode")), config, config.contains("models"));
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

/// Returns result.json without the newline at its end.
inline std::string bytes_of(const Result& result) {
  std::string text;
  write_text(result, HeldCells(result), [&](const std::string& piece) { text += piece; });
  text.pop_back();
  return text;
}

inline Json result_json(const Result& result) { return parse_json(bytes_of(result)); }

}  // namespace speclab

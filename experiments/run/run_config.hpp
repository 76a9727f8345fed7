// Runs a config: its cells, their simulations, and what each experiment makes of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "experiments/run/backend.hpp"
#include "experiments/run/experiment.hpp"

namespace speclab {

/// `result` depends on the config alone: the same bytes at any number of threads.
struct RunResult {
  Result result;
  Timings timings;
};

/// How much a config would run.
struct Workload {
  std::size_t cells = 0;
  std::uint64_t steps = 0;  ///< rounds, tokens of acceptance measurements, steps of beam searches, sequences
};

/// What a result depends on: runs of one identity give the same bytes, so that one can go on where another
/// stopped.
struct RunIdentity {
  Config config;  ///< with the sections of its experiment
  std::size_t cells = 0;
  std::vector<InputFile> inputs;  ///< every file that the cells name, in the order of first mention
  Backend backend = Backend::cpu;
};

/// Whole cells by their place in the result.
using FinishedCells = std::map<std::size_t, CellResult>;

/// How a run is gone on with, and what keeps its cells.
struct Resumption {
  FinishedCells finished;  ///< not run again
  /// Told of every other cell when it is finished, by one thread at a time. Cells that cost no work are left
  /// out.
  std::function<void(std::size_t cell, const CellResult& result)> keep = [](std::size_t, const CellResult&) {
  };
};

/// Builds everything that the config names. Throws ConfigError for a config that cannot be run.
Workload measure_workload(const Config& config);

/// The config with the sections of its experiment written out, as results carry it.
Config with_sections(Config config);

/// Runs the config. `control_for(total)` is asked once the amount of work, in steps, is known; `resume`
/// before that, with what the run depends on. Throws ConfigError for a config that cannot be run, or not on
/// this backend. The result is the same on all of them; timings name the device.
RunResult run_config(
    const Config& config, const std::function<Control(std::uint64_t total)>& control_for,
    const std::function<Resumption(const RunIdentity& identity)>& resume =
        [](const RunIdentity&) { return Resumption{}; },
    Backend backend = Backend::cpu);

}  // namespace speclab

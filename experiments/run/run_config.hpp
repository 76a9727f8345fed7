// Runs a config: its cells, their simulations, and the experiment's results.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "experiments/config/cells.hpp"
#include "experiments/config/experiment.hpp"
#include "experiments/run/backend.hpp"
#include "experiments/run/prepared_cells.hpp"
#include "experiments/run/result.hpp"

namespace speclab {

/// A result and its timings. `result` depends on the config alone: its bytes are the same with any number of
/// threads.
struct RunResult {
  Result result;
  Timings timings;
  std::shared_ptr<const CellSource> all = nullptr;  ///< the cells, if too many for `result`
};

/// Most cells held in memory. Beyond that, cells are recomputed or read from shards' journals when needed, if
/// possible (RunResult::all).
inline constexpr std::size_t max_cells_held = 20'000;

/// Moves all cells into the result. Throws ConfigError if memory cannot hold them.
void hold_cells(RunResult& run);

/// Calls `use` with a run's cells, wherever they are.
inline void with_cells(const RunResult& run, const std::function<void(const CellSource& cells)>& use) {
  run.all ? use(*run.all) : use(HeldCells(run.result));
}

/// The amount of work of a config.
struct Workload {
  std::size_t cells = 0;
  std::uint64_t steps = 0;  ///< rounds, tokens of acceptance measurements, steps of beam searches, sequences
};

/// Everything a result depends on. Runs with equal identity give the same bytes, so one can continue another.
struct RunIdentity {
  std::shared_ptr<const Config> config;  ///< includes the sections of its experiment
  std::size_t cells = 0;
  std::vector<InputFile> inputs;  ///< every file that the cells name, in order of first use
  Backend backend = Backend::cpu;
  const CellGrid* grid = nullptr;  ///< valid only during the call
};

/// The earlier work that a run continues, and what it does with its cells.
struct Resumption {
  FinishedCells finished;  ///< cells not to run again, if the run is not shared
  /// This process's turns, in order, if processes share the run. Empty: everything.
  std::optional<std::vector<Turn>> turns;
  bool describes = true;  ///< false if only `partial` of the result is needed
  ResultKeeper keep = [](std::size_t, const CellResult&) {};
};

/// Throws ConfigError for a cell that can be refused before anything is built (Experiment::check).
void check_cells(const CellGrid& grid);

/// Builds everything that the config names; returns the amount of work. Throws ConfigError if it cannot be
/// run.
Workload measure_workload(const Config& config);

/// Returns the config with its experiment's sections, as in results.
std::shared_ptr<const Config> with_sections(const Config& config);

/// Runs the config. Calls `resume` with the run's identity, then, once the number of steps is known,
/// `control_for(total)`. If processes share the run, the result has no cells, `partial` refers to this
/// process's work, and `total` is an estimate if there are several turns. Throws ConfigError if the config
/// cannot be run, or not on this backend. All backends give the same result; timings name the device.
RunResult run_config(
    const Config& config, const std::function<Control(std::uint64_t total)>& control_for,
    const std::function<Resumption(const RunIdentity& identity)>& resume =
        [](const RunIdentity&) { return Resumption{}; },
    Backend backend = Backend::cpu);

}  // namespace speclab

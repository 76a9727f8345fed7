// Runs a config: its cells, their simulations, and the results that its experiment makes from them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "experiments/config/cells.hpp"
#include "experiments/config/experiment.hpp"
#include "experiments/config/shown_config.hpp"
#include "experiments/run/backend.hpp"
#include "experiments/run/prepared_cells.hpp"
#include "experiments/run/result.hpp"

namespace speclab {

/// A result and its timings. `result` depends only on the config: it has the same bytes with any number of
/// threads.
struct RunResult {
  Result result;
  Timings timings;
  std::shared_ptr<const CellSource> all = nullptr;  ///< the cells, if there are too many for `result`
};

/// The most cells held in memory. If there are more, they are computed again or read from the journals of
/// shards when they are needed, if possible (RunResult::all).
inline constexpr std::size_t max_cells_held = 20'000;

/// Moves all cells into the result. Throws ConfigError if memory cannot hold them.
void hold_cells(RunResult& run);

/// Calls `use` with the cells of a run, wherever they are.
inline void with_cells(const RunResult& run, const std::function<void(const CellSource& cells)>& use) {
  run.all ? use(*run.all) : use(HeldCells(run.result));
}

/// The amount of work of a config.
struct Workload {
  std::size_t cells = 0;
  std::uint64_t steps = 0;  ///< rounds, tokens of acceptance measurements, steps of beam searches, sequences
};

/// Everything on which a result depends. Runs with equal identity give the same bytes, so that one can
/// continue another.
struct RunIdentity {
  std::shared_ptr<const Config> config;  ///< includes the sections of its experiment
  std::size_t cells = 0;
  std::vector<InputFile> inputs;  ///< every file that the cells name, in the order of first mention
  Backend backend = Backend::cpu;
  const CellGrid* grid = nullptr;  ///< valid only during the call
};

/// How a run continues earlier work, and how its cells are kept.
struct Resumption {
  FinishedCells finished;  ///< cells that are not run again, if the run is not shared
  std::vector<BatchTallies>
      tallies;  ///< batches that are not run again; those of one look at a job must not overlap
  /// If the run is shared among processes: the turns of this one, in order. Empty: everything.
  std::optional<std::vector<Turn>> turns;
  bool describes = true;  ///< false if only `partial` of the result is used
  ResultKeeper keep = {};
};

/// Throws ConfigError for a cell that can be refused before anything is built (Experiment::check).
void check_cells(const CellGrid& grid);

/// Builds everything that the config names and returns the amount of work. Throws ConfigError for a config
/// that cannot be run.
Workload measure_workload(const Config& config);

/// Returns the config with the sections of its experiment written out, as results include it.
std::shared_ptr<const Config> with_sections(const Config& config);

/// Runs the config. Calls `resume` with everything on which the run depends and then, once the amount of work
/// in steps is known, `control_for(total)`. If the run is shared, the result has no cells, `partial` refers
/// to the work of this process, and `total` is an estimate if there are several turns. Throws ConfigError for
/// a config that cannot be run, or not on this backend. The result is the same on all backends; timings name
/// the device.
RunResult run_config(
    const Config& config, const std::function<Control(std::uint64_t total)>& control_for,
    const std::function<Resumption(const RunIdentity& identity)>& resume =
        [](const RunIdentity&) { return Resumption{}; },
    Backend backend = Backend::cpu);

}  // namespace speclab

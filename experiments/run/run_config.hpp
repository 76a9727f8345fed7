// Runs a config: its cells, their simulations, and what each experiment makes of them.
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

/// `result` depends on the config alone: the same bytes at any number of threads.
struct RunResult {
  Result result;
  Timings timings;
  std::shared_ptr<const CellSource> all =
      nullptr;  ///< the cells, where `result` has none because of their number
};

/// So many cells are held in memory; more are computed again or read from the journals of shards as they are
/// needed, where they can be (RunResult::all).
inline constexpr std::size_t max_cells_held = 20'000;

/// Moves all cells into the result. Throws ConfigError where memory does not hold them.
void hold_cells(RunResult& run);

/// The cells of a run, wherever they are.
inline void with_cells(const RunResult& run, const std::function<void(const CellSource& cells)>& use) {
  run.all ? use(*run.all) : use(HeldCells(run.result));
}

/// How much a config would run.
struct Workload {
  std::size_t cells = 0;
  std::uint64_t steps = 0;  ///< rounds, tokens of acceptance measurements, steps of beam searches, sequences
};

/// What a result depends on: runs of one identity give the same bytes, so that one can go on where another
/// stopped.
struct RunIdentity {
  std::shared_ptr<const Config> config;  ///< with the sections of its experiment
  std::size_t cells = 0;
  std::vector<InputFile> inputs;  ///< every file that the cells name, in the order of first mention
  Backend backend = Backend::cpu;
  const CellGrid* grid = nullptr;  ///< while the run asks
};

/// How a run is gone on with, and what keeps its cells.
struct Resumption {
  FinishedCells finished;             ///< not run again; of a run that is not shared
  std::vector<BatchTallies> tallies;  ///< nor these; those of one job do not overlap
  /// Of a run that is shared among processes: what this one runs, in order. None: everything.
  std::optional<std::vector<Turn>> turns;
  bool describes = true;  ///< false when the result is not used but for `partial`
  ResultKeeper keep = {};
};

/// Throws ConfigError for a cell that can be refused before anything is built (Experiment::check).
void check_cells(const CellGrid& grid);

/// Builds everything that the config names. Throws ConfigError for a config that cannot be run.
Workload measure_workload(const Config& config);

/// The config with the sections of its experiment written out, as results carry it.
std::shared_ptr<const Config> with_sections(const Config& config);

/// Runs the config. `control_for(total)` is asked once the amount of work, in steps, is known; `resume`
/// before that, with what the run depends on. Of a run that is shared, the result has no cells, and `partial`
/// is about what this process runs, whose amount of work is an estimate when it takes several turns. Throws
/// ConfigError for a config that cannot be run, or not on this backend. The result is the same on all of
/// them; timings name the device.
RunResult run_config(
    const Config& config, const std::function<Control(std::uint64_t total)>& control_for,
    const std::function<Resumption(const RunIdentity& identity)>& resume =
        [](const RunIdentity&) { return Resumption{}; },
    Backend backend = Backend::cpu);

}  // namespace speclab

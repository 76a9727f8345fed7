// Runs a config: its cells, their simulations, and what each experiment makes of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "experiments/run/backend.hpp"
#include "experiments/run/cells.hpp"
#include "experiments/run/experiment.hpp"
#include "experiments/run/job_part.hpp"

namespace speclab {

/// `result` depends on the config alone: the same bytes at any number of threads.
struct RunResult {
  Result result;
  Timings timings;
  std::shared_ptr<const CellSource> all =
      nullptr;  ///< the cells, where `result` has none because of their number
};

/// The cells of a run, wherever they are.
inline void with_cells(const RunResult& run, const std::function<void(const CellSource& cells)>& use) {
  run.all ? use(*run.all) : use(HeldCells(*run.result.config.experiment, run.result.cells));
}

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
  const CellGrid* grid = nullptr;  ///< while the run asks
};

/// Whole cells by their place in the result.
using FinishedCells = std::map<std::size_t, CellResult>;

/// What one process runs of a run that several share.
struct Share {
  /// The places of the cells that it runs, whole or in part. Blocks are run one after another, so that a
  /// million cells take little memory; cells that share simulations are in one.
  std::vector<std::vector<std::size_t>> blocks;
  std::map<std::size_t, BatchSpan> divided;  ///< of those: the batches of all jobs of a cell that it runs
  int look = 1;  ///< of divided cells that go on until they are precise: which look these batches are for

  std::size_t cells() const {
    std::size_t count = 0;
    for (const auto& block : blocks) count += block.size();
    return count;
  }
};

/// How a run is gone on with, and what keeps its cells.
struct Resumption {
  FinishedCells finished;                    ///< not run again; of a run without shares
  std::vector<JobPart> parts;                ///< nor these; parts of one look at a job do not overlap
  std::optional<std::vector<Share>> shares;  ///< in order; none: everything
  bool describes = true;                     ///< false when the result is not used but for `partial`
  /// Told of every other cell when it is finished, by one thread at a time. Cells that cost no work are left
  /// out, unless processes share the run.
  std::function<void(std::size_t cell, const CellResult& result)> keep = [](std::size_t, const CellResult&) {
  };
  /// Told of the jobs of divided cells, instead; any thread.
  std::function<void(const JobPart& part)> keep_part = [](const JobPart&) {};
  /// Told of each further look, from the second, that a cell needs which is made of parts. One that its parts
  /// are not there for leaves the run partial.
  std::function<void(std::size_t cell, int look)> needs_look = [](std::size_t, int) {};
};

/// Builds everything that the config names. Throws ConfigError for a config that cannot be run.
Workload measure_workload(const Config& config);

/// The config with the sections of its experiment written out, as results carry it.
Config with_sections(Config config);

/// Runs the config. `control_for(total)` is asked once the amount of work, in steps, is known; `resume`
/// before that, with what the run depends on. Of a run that is shared, the result has no cells, and `partial`
/// is about the share, whose amount of work is an estimate when it is of several blocks. Throws ConfigError
/// for a config that cannot be run, or not on this backend. The result is the same on all of them; timings
/// name the device.
RunResult run_config(
    const Config& config, const std::function<Control(std::uint64_t total)>& control_for,
    const std::function<Resumption(const RunIdentity& identity)>& resume =
        [](const RunIdentity&) { return Resumption{}; },
    Backend backend = Backend::cpu);

}  // namespace speclab

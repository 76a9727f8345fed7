// Cells that are ready to run, those of one turn together, and what makes their results as their jobs end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "experiments/config/cells.hpp"
#include "experiments/config/experiment.hpp"
#include "experiments/run/backend.hpp"
#include "experiments/run/batch_tallies.hpp"
#include "experiments/run/result.hpp"

namespace speclab {

/// What a process runs of a cell: all of it, or some batches of its jobs.
struct CellTask {
  std::size_t cell = 0;                   ///< its place in the grid
  std::optional<BatchSpan> batches = {};  ///< none: the whole cell, with its result
};

/// Cells that are prepared and run together, because they share jobs. Turns follow one another, so that a
/// million cells take little memory.
using Turn = std::vector<CellTask>;

/// A cell, ready to run or taken from an earlier run.
struct PreparedCell {
  CellTask task;
  CellResult result = {};
  std::shared_ptr<const CellSpec> spec = {};  ///< as long as there is work
  std::optional<Work> work = {};              ///< none for a cell that is finished
  std::size_t waiting = 0;                    ///< jobs that have not run

  /// Its jobs run in part, itself not at all.
  bool in_part() const { return task.batches.has_value(); }
};

/// They stay where they are: a work refers to its cell.
using PreparedCells = std::deque<PreparedCell>;

/// Whole cells by their place in the grid.
using FinishedCells = std::map<std::size_t, CellResult>;

/// Prepares what is not among `finished`, which is moved from there. `confidence` is that of every interval.
/// Throws ConfigError for a config that cannot be run.
PreparedCells prepare(const Turn& turn, const CellGrid& grid, double confidence, JobList& jobs,
                      FinishedCells& finished);

/// Rounds, tokens and own steps that are left to run.
std::uint64_t steps_of(const PreparedCells& cells, const JobList& jobs);

/// Throws ConfigError for a cell whose work is not all in jobs that the GPU can run.
void require_gpu_form(const PreparedCells& cells);

/// Where results go as they are made.
struct ResultKeeper {
  /// Told of every cell that is finished, by one thread at a time. Cells that cost no work are left out,
  /// unless processes share the run.
  std::function<void(std::size_t cell, const CellResult& result)> cell = [](std::size_t, const CellResult&) {
  };
  /// Told of the jobs of cells that run in part, instead; any thread.
  std::function<void(const BatchTallies& tallies)> tallies = [](const BatchTallies&) {};
};

/// Makes the result of each cell as soon as its jobs have run, and lets go of what no further cell needs.
class CellRunner {
 public:
  /// Of a run that is `shared` among processes a result is let go of, too, once it is kept.
  CellRunner(PreparedCells& cells, const ResultKeeper& keep, bool shared, const RunContext& context);

  /// After a job: the cells that wait for nothing else, except those with work of their own. Any thread.
  void after(const Job& job);

  /// Every cell that is left, in order.
  void rest();

 private:
  void run(PreparedCell& cell);
  void finish(PreparedCell& cell);

  PreparedCells& cells_;
  const ResultKeeper& keep_;
  bool shared_;
  const RunContext& context_;
  std::map<const Job*, std::vector<PreparedCell*>> users_;  ///< cells that have not run
  std::mutex mutex_;
};

}  // namespace speclab

// Prepares cells, and makes their results as soon as their jobs end.
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
#include "experiments/run/result.hpp"

namespace speclab {

/// The indices, in the grid, of cells that are prepared and run together because they share jobs. Groups run
/// one after the other, so that a million cells need little memory.
using Turn = std::vector<std::size_t>;

/// A cell that is ready to run, or was finished by an earlier run.
struct PreparedCell {
  std::size_t index = 0;  ///< in the grid
  CellResult result = {};
  std::shared_ptr<const CellSpec> spec = {};  ///< kept while there is work
  std::optional<Work> work = {};              ///< empty for a finished cell
  std::size_t waiting = 0;                    ///< number of its jobs that have not run
};

/// The cells of a turn. A deque, because a Work refers to its cell, which must not move.
using PreparedCells = std::deque<PreparedCell>;

/// Finished cells, by index in the grid.
using FinishedCells = std::map<std::size_t, CellResult>;

/// Prepares the cells of a turn; takes those in `finished` from there. `confidence` is that of every
/// interval. Throws ConfigError for a config that cannot be run.
PreparedCells prepare(const Turn& turn, const CellGrid& grid, double confidence, JobList& jobs,
                      FinishedCells& finished);

/// Returns the number of steps left to run: rounds or tokens of jobs, and Work::own_steps.
std::uint64_t steps_of(const PreparedCells& cells, const JobList& jobs);

/// Throws ConfigError for a cell with work that the GPU cannot run.
void require_gpu_form(const PreparedCells& cells);

/// Receives the result of every finished cell, from one thread at a time; not for cells without work, unless
/// processes share the run.
using ResultKeeper = std::function<void(std::size_t cell, const CellResult& result)>;

/// Makes each cell's result as soon as its jobs have run, and frees what no other cell needs.
class CellRunner {
 public:
  /// If the run is `shared` among processes, results are also freed once `keep` has received them.
  CellRunner(PreparedCells& cells, const ResultKeeper& keep, bool shared, const RunContext& context);

  /// Called after each job, by any thread: makes the results of cells that wait for no other job and have no
  /// slow `finish` (Work::own_steps).
  void after(const Job& job);

  /// Makes the results of all remaining cells, in order.
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

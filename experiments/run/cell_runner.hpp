// Makes results of prepared cells: each as soon as its jobs have run.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <vector>

#include "experiments/run/prepared_cells.hpp"

namespace speclab {

/// Where results go as they are made.
struct ResultKeeper {
  /// Told of every cell that is finished, by one thread at a time. Cells that cost no work are left out,
  /// unless processes share the run.
  std::function<void(std::size_t cell, const CellResult& result)> cell = [](std::size_t, const CellResult&) {
  };
  /// Told of the jobs of cells that run in part, instead; any thread.
  std::function<void(const BatchTallies& tallies)> tallies = [](const BatchTallies&) {};
};

/// Lets go of what no further cell needs.
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

// Divides a run's cells, or batches of cells, among processes. Random numbers are addressed by seed, trial
// and round, so processes exchange no messages, and their merged results equal those of one process, byte for
// byte.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "experiments/results/journal_file.hpp"
#include "experiments/run/run_config.hpp"

namespace speclab {

/// The cells that each shard runs: in order, and of equal cost. The cost of a cell is its rounds times gamma
/// + 1. Cells that share simulations stay together. A cell is cut between batches where its experiment allows
/// that (Experiment::cut) and it costs more than a quarter of a shard. A cell that goes on until it is
/// precise stays whole, and so does every cell on a GPU. The plan takes about 40 bytes per cell.
class ShardPlan {
 public:
  ShardPlan(const CellGrid& cells, int shards, Backend backend);

  int shards() const { return shards_; }
  /// Returns the number of cells in the grid.
  std::size_t cells() const { return simulation_of_.size(); }
  /// Returns the work of a shard, counted from 1, on the cells that `wanted` accepts.
  std::vector<Turn> turns(
      int shard,
      const std::function<bool(std::size_t cell)>& wanted = [](std::size_t) { return true; }) const;
  /// Returns the cut cells as whole ones, to make results from their tallies in a merge.
  std::vector<Turn> turns_of_cut_cells() const;
  /// Returns each shard's cost in drafted or emitted tokens, by the size of the simulation; index 0 is shard
  /// 1.
  std::vector<double> costs() const;
  /// Returns the first and last shard, from 1, that may have batches of a cell (`runs` tells exactly); equal
  /// for a cell that is not cut; an empty range for a cell outside this look.
  std::pair<int, int> shards_of(std::size_t cell) const;
  bool runs(std::size_t cell, int shard) const;
  /// Returns true if shards write tallies of the cell instead of its result.
  bool is_cut(std::size_t cell) const { return simulation_at(cell).is_cut(); }

 private:
  /// The simulation of one cell, or of several that probably share jobs.
  struct Simulation {
    double begin = 0;  ///< cost of all simulations before it
    double cost = 0;
    std::uint32_t batches = 1;
    std::int32_t first = 0, last = 0;  ///< shards that run it, from 0

    bool is_cut() const { return first < last; }
  };
  const Simulation& simulation_at(std::size_t cell) const { return simulations_[simulation_of_[cell]]; }
  void add(const Config& cell, std::size_t at, Backend backend,
           std::unordered_map<std::string, std::uint32_t>& by_jobs);
  std::uint32_t batch_at(const Simulation& simulation, int shard) const;
  BatchSpan span_of(const Simulation& simulation, int shard) const;
  std::vector<Turn> turns_of(std::vector<CellTask> tasks) const;

  int shards_;
  double each_ = 0;  ///< cost of a shard
  std::vector<Simulation> simulations_;
  std::vector<std::uint32_t> simulation_of_;  ///< index of the simulation, by cell
};

}  // namespace speclab

// Divides a run's cells among processes. Random numbers are addressed by seed, trial and round, so processes
// exchange no messages, and their merged results equal those of one process, byte for byte.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "experiments/results/journal_file.hpp"
#include "experiments/run/run_config.hpp"

namespace speclab {

/// The cells that each shard runs: in order, and of equal cost. The cost of a cell is its rounds times gamma
/// + 1. Cells that share simulations stay together. The plan takes about 4 bytes per cell, and more for each
/// simulation.
class ShardPlan {
 public:
  ShardPlan(const CellGrid& cells, int shards);

  /// Returns the number of cells in the grid.
  std::size_t cells() const { return simulation_of_.size(); }
  /// Returns the shard, from 1, that runs a cell.
  int shard_of(std::size_t cell) const { return shard_of_simulation_[simulation_of_[cell]]; }
  /// Returns the work of a shard on the cells that `wanted` accepts.
  std::vector<Turn> turns(
      int shard,
      const std::function<bool(std::size_t cell)>& wanted = [](std::size_t) { return true; }) const;

 private:
  /// The simulation of each cell. Cells that probably share jobs have one.
  std::vector<std::uint32_t> simulation_of_;
  std::vector<std::int32_t> shard_of_simulation_;
};

}  // namespace speclab

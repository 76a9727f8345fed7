// Which part of a run each of several processes takes. Random numbers are addressed by seed, trial and round,
// so that parts need no messages: put together, they are the run of one process, byte for byte.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "experiments/run/run_config.hpp"

namespace speclab {

/// Shard `index` of `count`, from 1.
struct Shard {
  int index = 1;
  int count = 1;
};
inline constexpr int most_shards = 100'000;

/// "3/8". Throws UsageError.
Shard shard_named(const std::string& words);

/// What every shard runs. The cells, in order, are cut into parts of equal cost. The cost of a cell is its
/// rounds times gamma + 1. Cells that share simulations stay together. A cell is cut between batches of its
/// trials where its experiment allows that (Experiment::division) and it costs more than a quarter of a
/// shard. On a GPU every cell stays whole. Some 40 bytes a cell.
class ShardPlan {
 public:
  ShardPlan(const Experiment& experiment, const CellGrid& cells, int shards, Backend backend);

  int shards() const { return shards_; }
  std::size_t cells() const { return group_of_.size(); }
  /// What a shard, from 1, runs of the cells that `wanted` takes.
  Share share(
      int shard,
      const std::function<bool(std::size_t cell)>& wanted = [](std::size_t) { return true; }) const;
  /// Of each shard, in tokens drafted or emitted, by the size of the simulation; index 0 for shard 1.
  std::vector<double> costs() const;
  /// The shards, from 1, between which a cell is divided; those of them that run a part of it; the one shard
  /// twice for a cell that is whole.
  std::pair<int, int> shards_of(std::size_t cell) const;
  bool runs(std::size_t cell, int shard) const;
  bool divided(std::size_t cell) const { return group_at(cell).first != group_at(cell).last; }
  /// The cells that `wanted` takes, in blocks for Share.
  std::vector<std::vector<std::size_t>> blocks_of(const std::function<bool(std::size_t cell)>& wanted) const;

 private:
  /// Cells that are run together.
  struct Group {
    double begin = 0;  ///< cost of all groups before it
    double cost = 0;
    std::uint32_t batches = 1;
    std::int32_t first = 0, last = 0;  ///< the shards that run it, from 0
  };
  const Group& group_at(std::size_t cell) const { return groups_[group_of_[cell]]; }
  std::uint32_t batch_at(const Group& group, int shard) const;
  BatchSpan range_of(const Group& group, int shard) const;

  int shards_;
  double each_ = 0;  ///< cost of a shard
  std::vector<Group> groups_;
  std::vector<std::uint32_t> group_of_;  ///< by cell
};

}  // namespace speclab

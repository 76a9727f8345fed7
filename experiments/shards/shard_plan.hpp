// Which part of a run each of several processes takes. Random numbers are addressed by seed, trial and round,
// so that parts need no messages: put together, they are the run of one process, byte for byte.
#pragma once

#include <span>
#include <string>
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

/// What every shard runs: index 0 for shard 1.
struct ShardPlan {
  std::vector<Share> shares;
  std::vector<double> costs;  ///< of each, in tokens drafted or emitted, by the size of the simulation
};

/// Cuts the cells, in order, into parts of equal cost. The cost of a cell is its rounds times gamma + 1.
/// Cells that share simulations stay together. A cell is cut between batches of its trials where its
/// experiment allows that (Experiment::division) and it costs more than a quarter of a shard. On a GPU every
/// cell stays whole.
ShardPlan plan_shards(const Experiment& experiment, std::span<const CellSpec> cells, int shards,
                      Backend backend);

}  // namespace speclab

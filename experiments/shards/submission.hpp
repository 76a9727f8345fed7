// Shares a run out among shards by a scheduler, until all are complete.
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "experiments/run/run_config.hpp"
#include "experiments/shards/scheduler.hpp"

namespace speclab {

/// What a shard will take, from a run of the first one for some seconds.
struct ShardEstimate {
  double prepare_seconds = 0;          ///< to build its models
  std::optional<double> work_seconds;  ///< after that; none when nothing was done in time
  double bytes = 0;                    ///< of memory, at its peak so far
};
ShardEstimate estimate_shard(const Config& config, int shards, double seconds);

/// Submits the shards that are not complete, and those that failed again, `retries` times at most. True when
/// all are complete; false after an interrupt, or when shards still fail.
bool submit_shards(const Submission& submission, const SchedulerEntry& scheduler, int retries);

}  // namespace speclab

// Runs the shards of a run until all are complete. A scheduler gives shards their processors; each has its
// own file in schedulers/ and a line in scheduler.cpp.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace speclab {

struct Config;

/// A run to divide into shards.
struct Submission {
  std::vector<std::string> command;  ///< the whole run's command: the program, "run", config and options
  std::filesystem::path folder;      ///< folder of its results, shared by all machines
  int shards = 1;
  int threads = 0;                      ///< threads per shard; 0: as the scheduler gives, or all cores
  int at_once = 0;                      ///< shards that run at the same time; 0: the scheduler's choice
  std::string partition, time, memory;  ///< in the scheduler's notation; empty: its default
};

/// Returns a shard's command as a line for sh, with all words quoted except `shard`, which the shell expands
/// to the shard's number: "$SLURM_ARRAY_TASK_ID".
std::string shard_line(const Submission& submission, const std::string& shard);

struct SchedulerEntry {
  const char* name;
  const char* sentence;
  /// Returns text that a person can pass to the scheduler.
  std::string (*print)(const Submission& submission);
  /// Runs these shards. Returns when all have ended, complete or not, or after an interrupt. Throws
  /// UsageError if the scheduler is not available.
  void (*run)(const Submission& submission, const std::vector<int>& shards);
};

const std::vector<SchedulerEntry>& schedulers();
/// Returns the scheduler of this name. Throws UsageError if there is none.
const SchedulerEntry& scheduler_named(const std::string& name);

/// The estimated cost of a shard, from a few seconds of the first.
struct ShardEstimate {
  double prepare_seconds = 0;          ///< time to build its models
  std::optional<double> work_seconds;  ///< time after that; empty if nothing was done within the limit
  double bytes = 0;                    ///< peak memory so far
};
ShardEstimate estimate_shard(const Config& config, int shards, double seconds);

/// Submits the shards that are not complete and, at most `retries` times, those that failed. Returns true
/// when all are complete; false after an interrupt, or if shards still fail.
bool submit_shards(const Submission& submission, const SchedulerEntry& scheduler, int retries);

}  // namespace speclab

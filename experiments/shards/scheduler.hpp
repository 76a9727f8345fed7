// Distributes the shards of a run until all are complete. Each scheduler, which gives shards their
// processors, is an entry in its own file of schedulers/ and has a line in scheduler.cpp.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace speclab {

struct Config;

/// A run that is to be divided into shards.
struct Submission {
  std::vector<std::string>
      command;                   ///< the command of the whole run: the program, "run", the config and options
  std::filesystem::path folder;  ///< the folder of its results, which all machines share
  int shards = 1;
  int threads = 0;  ///< threads of each shard; 0: as many as the scheduler gives, or all cores
  int at_once = 0;  ///< shards that run at the same time; 0: the scheduler's choice
  std::string partition, time, memory;  ///< in the scheduler's notation; empty: its default
};

/// Returns the command of a shard as a line for a shell (sh). The shell expands `shard`, the text of a number
/// such as "$SLURM_ARRAY_TASK_ID". Every other word is quoted.
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

/// The estimated cost of a shard, from running the first one for some seconds.
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

// Shares a run out among shards, until all are complete, by who gives them a processor: one entry a
// scheduler, each in a file of schedulers/, and one line in scheduler.cpp.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace speclab {

struct Config;

/// A run that is to be shared out.
struct Submission {
  std::vector<std::string> command;  ///< that runs it whole: the program, "run", the config and options
  std::filesystem::path folder;      ///< of its results, which all machines see
  int shards = 1;
  int threads = 0;                      ///< of each shard; 0: as many as the scheduler gives, or all cores
  int at_once = 0;                      ///< shards that run at a time; 0: the scheduler's choice
  std::string partition, time, memory;  ///< as the scheduler writes them; empty for its default
};

/// A command that runs a shard, as a line for a shell (sh), which expands `shard`: the shell's text of a
/// number, such as "$SLURM_ARRAY_TASK_ID". Every other word is quoted.
std::string shard_line(const Submission& submission, const std::string& shard);

struct SchedulerEntry {
  const char* name;
  const char* sentence;
  /// What a person can hand to the scheduler.
  std::string (*print)(const Submission& submission);
  /// Runs these shards and returns when all have ended, whether they are complete or not, or after an
  /// interrupt. Throws UsageError where the scheduler is not there.
  void (*run)(const Submission& submission, const std::vector<int>& shards);
};

const std::vector<SchedulerEntry>& schedulers();
/// Throws UsageError for a name that no scheduler has.
const SchedulerEntry& scheduler_named(const std::string& name);

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

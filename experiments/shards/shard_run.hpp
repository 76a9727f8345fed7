// Runs one shard, and merges all shards of a run.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include "experiments/run/run_config.hpp"
#include "experiments/shards/shard_files.hpp"

namespace speclab {

/// Options for running a shard.
struct ShardOptions {
  std::filesystem::path folder;  ///< folder of the whole run
  Shard shard;
  std::string command;      ///< shell command of the whole run, without --out
  bool overwrites = false;  ///< another config's result is removed before the first cell
  Backend backend = Backend::cpu;
  std::function<Control(std::uint64_t total)> control_for;  ///< as in run_config
};

/// Runs a shard of a config, which must have its experiment's sections. Continues earlier processes' work.
/// Returns true when the shard is complete, false after an interrupt. Throws ConfigError if the config cannot
/// be run; UsageError if it cannot be divided, or if the folder holds another run's shards. Errors of the run
/// are also written into the folder.
bool run_shard(const Config& config, const ShardOptions& options);

/// Merges a folder's shards into the result of one process, byte for byte; only `partial` is set after an
/// interrupt. Throws UsageError for missing or incomplete shards, with the commands that run them, and for
/// a result of another config in the folder.
RunResult merge_shards(const std::filesystem::path& folder);

}  // namespace speclab

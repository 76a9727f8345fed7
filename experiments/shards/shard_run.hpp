// Runs one shard of a run, and merges all its shards.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "experiments/run/run_config.hpp"
#include "experiments/shards/shard_files.hpp"

namespace speclab {

/// Options for running a shard.
struct ShardOptions {
  std::filesystem::path folder;  ///< folder of the whole run
  Shard shard;
  std::string command;  ///< command of the whole run, for a shell
  bool anew = false;    ///< ignores the work of earlier processes and removes their journals
  Backend backend = Backend::cpu;
  std::function<Control(std::uint64_t total)> control_for;  ///< as for run_config
};

/// Runs a shard of a config, which must have the sections of its experiment. Continues the work of earlier
/// processes, through all looks that a merge requested. Returns true when the shard is complete, false after
/// an interrupt. Throws ConfigError for a config that cannot be run. Throws UsageError for one that cannot be
/// divided, or whose folder holds shards of another run. An error message is also written into the folder.
bool run_shard(const Config& config, const ShardOptions& options);

/// The result of all shards in a folder: that of one process, byte for byte; nothing but `partial` after an
/// interrupt. Throws UsageError for shards that are missing or not complete, with the commands that run them.
RunResult merge_shards(const std::filesystem::path& folder,
                       const std::function<Control(std::uint64_t total)>& control_for);

}  // namespace speclab

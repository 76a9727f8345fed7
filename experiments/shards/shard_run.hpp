// Runs one shard, and puts the shards of a run together.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "experiments/run/run_config.hpp"
#include "experiments/shards/shard_files.hpp"

namespace speclab {

/// How a shard is run.
struct ShardOptions {
  std::filesystem::path folder;  ///< of the whole run
  Shard shard;
  std::string command;  ///< of the whole run, for a shell
  bool anew = false;    ///< without what earlier processes finished, whose journals are removed
  Backend backend = Backend::cpu;
  std::function<Control(std::uint64_t total)> control_for;  ///< as of run_config
};

/// Runs a shard of a config, which has the sections of its experiment, and goes on with what earlier
/// processes finished of it. True when it is complete, false after
/// an interrupt. Throws ConfigError for a config that cannot be run and UsageError for one that cannot be
/// shared out, or whose folder holds shards of another run. The sentence of an error is left in the folder,
/// too.
bool run_shard(const Config& config, const ShardOptions& options);

/// The result of all shards in a folder: that of one process, byte for byte; nothing but `partial` after an
/// interrupt. Throws UsageError for shards that are missing or not complete, with the commands that run them.
RunResult merge_shards(const std::filesystem::path& folder,
                       const std::function<Control(std::uint64_t total)>& control_for);

}  // namespace speclab

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

/// The result of merging all shards.
struct MergedRun {
  RunResult run;
  /// Set if some cells need a further look because they continue until they are precise. Nothing is merged
  /// then; `sentence` says why and has the commands that run the look.
  std::optional<LookCells> next = std::nullopt;
  std::string sentence = {};
};

/// Merges all shards in a folder. The result equals that of one process, byte for byte. After an interrupt,
/// or if further looks are needed, only `partial` is set, and the shards will run these looks. Throws
/// UsageError if shards are missing or incomplete; the message has the commands that run them.
MergedRun merge_shards(const std::filesystem::path& folder,
                       const std::function<Control(std::uint64_t total)>& control_for);

}  // namespace speclab

// Reads and names the files that shards write into a run's folder, and reports progress. Every process writes
// a journal of its own, FOLDER/shards/3-of-8.HOST-PROCESS.jsonl, so a shared folder is enough: it needs no
// locks, and running a shard twice does no harm.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "experiments/results/journal_file.hpp"
#include "experiments/shards/journaled_cells.hpp"
#include "experiments/shards/shard_plan.hpp"

namespace speclab {

/// Parses a shard such as "3/8". Throws UsageError if it is malformed.
Shard shard_named(const std::string& words);

/// Returns FOLDER/shards.
std::filesystem::path shards_folder(const std::filesystem::path& folder);
/// Returns a path for this process's journal of a shard; each call returns another.
std::filesystem::path new_shard_journal(const std::filesystem::path& folder, const Shard& shard);
/// Returns the file in which a failing process leaves its message.
std::filesystem::path shard_error_file(const std::filesystem::path& folder, const Shard& shard);

/// The state of one shard's journals, over all processes that ran it.
struct ShardContent {
  std::vector<std::string> files;  ///< the journals that were read
  std::size_t damaged = 0;         ///< number of damaged lines, which were skipped
  double working_seconds = 0;      ///< sum over processes, from the start of each to its last line
};

/// All shards' journals.
struct ShardedRun {
  JournalHead head;                  ///< the run to which all of them belong
  std::vector<ShardContent> shards;  ///< index 0 for shard 1
  JournaledCells cells;              ///< the cells of all shards

  ShardContent& of(const Shard& shard) { return shards.at(static_cast<std::size_t>(shard.index - 1)); }
};

/// Reads a folder's journals; ignores those with a damaged first line. Throws UsageError, naming the files,
/// for journals of different runs and different results of one cell; throws it, too, without journals.
ShardedRun read_shards(const std::filesystem::path& folder);
/// Reads one shard's journals in a run with this head. Throws UsageError for journals of other runs.
ShardedRun read_shard(const std::filesystem::path& folder, const Shard& shard, const JournalHead& head);

/// A shard's progress.
struct ShardState {
  int shard = 0;
  std::size_t cells = 0;
  std::size_t finished = 0;  ///< finished ones among `cells`
  bool complete = false;
  std::optional<double> seconds_left =
      {};                   ///< at the rate so far; empty before the first cell, and when complete
  std::string error = {};   ///< of the process that ran it last; empty if it did not fail
  std::size_t damaged = 0;  ///< number of damaged lines in its journals
};
/// Returns each shard's state.
std::vector<ShardState> shard_states(const std::filesystem::path& folder, const ShardedRun& run,
                                     const ShardPlan& plan);
/// Returns the command that runs a shard again, in this folder.
std::string shard_command(const std::filesystem::path& folder, const ShardedRun& run, int shard);

}  // namespace speclab

// What shards leave in the folder of a run, and what can be said of it while they run. Every process writes a
// journal of its own, FOLDER/shards/3-of-8.HOST-PROCESS.jsonl, so that a shared folder is all that is needed:
// no locks, and a shard that is run twice does no harm.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "experiments/results/journal_file.hpp"
#include "experiments/shards/journaled_cells.hpp"
#include "experiments/shards/shard_plan.hpp"

namespace speclab {

/// FOLDER/shards
std::filesystem::path shards_folder(const std::filesystem::path& folder);
/// The journal of this process for a shard. Each call names another file.
std::filesystem::path new_shard_journal(const std::filesystem::path& folder, const Shard& shard);
/// What a merge of this process puts down, beside the shards.
std::filesystem::path new_merge_journal(const std::filesystem::path& folder);
/// Removes what merges left that were killed.
void remove_merge_journals(const std::filesystem::path& folder);
/// Where a process that ends in an error leaves the sentence.
std::filesystem::path shard_error_file(const std::filesystem::path& folder, const Shard& shard);

/// Its sentence; empty when there was none.
std::string shard_error(const std::filesystem::path& folder, const Shard& shard);

/// What is finished of one shard besides whole cells, by all processes that ran it.
struct ShardContent {
  std::vector<BatchTallies> tallies;
  bool said_complete = false;      ///< by a process that ran it to its end
  std::vector<std::string> files;  ///< the journals read
  std::size_t damaged = 0;         ///< lines that were left out
  double working_seconds = 0;      ///< from the start of each process to its last line
};

/// Everything that shards left.
struct ShardedRun {
  JournalHead head;                  ///< what they all ran
  std::vector<ShardContent> shards;  ///< index 0 for shard 1
  JournaledCells cells;              ///< of all shards

  ShardContent& of(const Shard& shard) { return shards.at(static_cast<std::size_t>(shard.index - 1)); }
};

/// Whether a folder has journals of shards that can be read.
bool any_shards(const std::filesystem::path& folder);
/// Reads the journals in a folder. Two results of one cell must be equal, and all journals of one run:
/// UsageError names the files that are not, and a folder without journals. A journal whose first line is
/// damaged counts as not there.
ShardedRun read_shards(const std::filesystem::path& folder);
/// The same for one shard of a run with this head. Journals of other runs are an error.
ShardedRun read_shard(const std::filesystem::path& folder, const Shard& shard, const JournalHead& head);

/// How far a shard is.
struct ShardState {
  int shard = 0;
  std::size_t cells = 0;     ///< a cell that is cut counts in every shard that has batches of it
  std::size_t finished = 0;  ///< of these
  bool complete = false;
  std::optional<double> seconds_left =
      {};                   ///< at the rate so far; none before the first cell, or when complete
  std::string error = {};   ///< of the process that ran it last; empty when there was none
  std::size_t damaged = 0;  ///< lines of its journals that are not as they were written
};
/// `plan` is that of the run.
std::vector<ShardState> shard_states(const std::filesystem::path& folder, const ShardedRun& run,
                                     const ShardPlan& plan);
/// What the shards of a run with this head run.
ShardPlan plan_of(const JournalHead& head, const CellGrid& grid);

/// The command that runs a shard again.
std::string shard_command(const ShardedRun& run, int shard);

}  // namespace speclab

// Reads and names the files that shards write into the folder of a run, and reports their progress. Every
// process writes its own journal, FOLDER/shards/3-of-8.HOST-PROCESS.jsonl. A shared folder is therefore
// enough: no locks are needed, and running a shard twice does no harm.
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
/// Returns a path for the journal of this process for a shard. Each call names another file.
std::filesystem::path new_shard_journal(const std::filesystem::path& folder, const Shard& shard);
/// Returns a path for the results of this process's merge, in the same folder.
std::filesystem::path new_merge_journal(const std::filesystem::path& folder);
/// Removes the files that killed merges left.
void remove_merge_journals(const std::filesystem::path& folder);
/// Returns the file in which a process that ends in an error leaves its message.
std::filesystem::path shard_error_file(const std::filesystem::path& folder, const Shard& shard);

/// Returns that message; empty if there is none.
std::string shard_error(const std::filesystem::path& folder, const Shard& shard);

/// The tallies of one shard and the state of its journals, over all processes that ran it.
struct ShardContent {
  std::vector<BatchTallies> tallies;
  bool said_complete = false;      ///< a process stated that it ran the shard to its end
  std::vector<std::string> files;  ///< the journals that were read
  std::size_t damaged = 0;         ///< number of damaged lines, which were left out
  double working_seconds = 0;      ///< sum over processes, from the start of each to its last line
};

/// The contents of the journals of all shards.
struct ShardedRun {
  JournalHead head;                  ///< the run to which all of them belong
  std::vector<ShardContent> shards;  ///< index 0 for shard 1
  JournaledCells cells;              ///< the cells of all shards

  ShardContent& of(const Shard& shard) { return shards.at(static_cast<std::size_t>(shard.index - 1)); }
};

/// Returns true if a folder has journals of shards that can be read.
bool any_shards(const std::filesystem::path& folder);
/// Reads the journals in a folder. All journals must be of one run, and two results of one cell must be
/// equal; otherwise UsageError names the files. Throws UsageError, too, if there are no journals. A journal
/// whose first line is damaged is ignored.
ShardedRun read_shards(const std::filesystem::path& folder);
/// Reads the journals of one shard of a run with this head. Throws UsageError for journals of other runs.
ShardedRun read_shard(const std::filesystem::path& folder, const Shard& shard, const JournalHead& head);

/// The progress of a shard.
struct ShardState {
  int shard = 0;
  std::size_t cells = 0;     ///< a cut cell counts in each shard with batches of it, and in each look
  std::size_t finished = 0;  ///< number of these cells that are finished
  bool complete = false;
  std::optional<double> seconds_left =
      {};                   ///< at the rate so far; empty before the first cell and when complete
  std::string error = {};   ///< message of the process that ran it last; empty if it did not fail
  std::size_t damaged = 0;  ///< number of damaged lines in its journals
};
/// Returns the state of each shard. `plans` are those of the run, by plans_of.
std::vector<ShardState> shard_states(const std::filesystem::path& folder, const ShardedRun& run,
                                     const ShardPlan& plan);
/// Returns the plan of the shards of a run with this head.
ShardPlan plan_of(const JournalHead& head, const CellGrid& grid);

/// Returns the command that runs a shard again.
std::string shard_command(const ShardedRun& run, int shard);

}  // namespace speclab

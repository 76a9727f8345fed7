#include "experiments/shards/shard_run.hpp"

#include <fmt/format.h>

#include <ctime>
#include <utility>

#include "experiments/base/format/config_error.hpp"
#include "experiments/base/support/atomic_file.hpp"
#include "experiments/base/support/printable.hpp"
#include "experiments/config/config.hpp"
#include "experiments/results/presentation.hpp"
#include "experiments/results/result_files.hpp"

namespace speclab {

namespace {

bool run(const Config& config, const ShardOptions& options) {
  std::optional<JournalHead> head;
  std::optional<JournalWriter> journal;
  const auto resume = [&](const RunIdentity& identity) {
    head = journal_head(identity);
    head->shard = options.shard;
    head->input = config.input;
    head->command = options.command;
    head->started = std::time(nullptr);
    ShardedRun earlier = read_shard(options.folder, options.shard, *head);
    if (options.overwrites) remove_foreign_result(options.folder, config);
    journal.emplace(new_shard_journal(options.folder, options.shard), *head);
    // A shard without cells has a journal, too, so that `status` and `merge` find the run.
    if (earlier.of(options.shard).files.empty()) journal->begin();
    Resumption resumption;
    resumption.describes = false;
    resumption.turns =
        ShardPlan(*identity.grid, options.shard.count).turns(options.shard.index, [&](std::size_t cell) {
          return !earlier.cells.contains(cell);
        });
    resumption.keep = [&](std::size_t cell, const CellResult& result) { journal->add(cell, result); };
    return resumption;
  };
  return !run_config(config, options.control_for, resume, options.backend).result.partial;
}

/// Returns a list of incomplete shards, with the commands that complete them.
std::string missing_shards(const std::filesystem::path& folder, const ShardedRun& run,
                           const ShardPlan& plan) {
  constexpr int max_listed = 20;
  std::string text;
  int missing = 0;
  for (const ShardState& state : shard_states(folder, run, plan)) {
    if (state.complete || ++missing > max_listed) continue;
    text +=
        fmt::format("\n  shard {}: {} of {} cells finished{}; {}", state.shard, state.finished, state.cells,
                    state.damaged > 0 ? fmt::format(", {} damaged lines", state.damaged) : "",
                    shard_command(folder, run, state.shard));
  }
  if (missing > max_listed) text += fmt::format("\n  and {} more", missing - max_listed);
  if (missing == 0) return "";
  return fmt::format("{}: {} of {} shards are not complete:{}", folder.string(), missing, run.shards.size(),
                     text);
}

}  // namespace

RunResult merge_shards(const std::filesystem::path& folder) {
  ShardedRun run = read_shards(folder);
  refuse_foreign_result(folder, *run.head.config, "remove it, or move shards/ to another folder");
  const auto resume = [&](const RunIdentity& identity) {
    JournalHead now = journal_head(identity);
    now.backend = run.head.backend;
    now.shard = run.head.shard;
    if (const std::string reason = difference(run.head, now); !reason.empty())
      throw UsageError("{}: the shards cannot be merged here: {}", folder.string(), reason);
    const ShardPlan plan(*identity.grid, run.head.shard->count);
    if (const std::string missing = missing_shards(folder, run, plan); !missing.empty())
      throw UsageError(missing);
    Resumption nothing_to_run;
    nothing_to_run.turns.emplace();
    return nothing_to_run;
  };
  RunResult merged = run_config(
      *run.head.config, [](std::uint64_t) { return Control{}; }, resume);
  if (merged.result.partial) return merged;
  const Experiment& experiment = *run.head.config->experiment;
  const auto cells = std::make_shared<const JournaledResult>(experiment, std::move(run.cells));
  merged.all = cells;
  if (cells->size() <= max_cells_held || presentation_of(*run.head.config).needs_all_cells())
    hold_cells(merged);
  return merged;
}

bool run_shard(const Config& config, const ShardOptions& options) {
  if (!config.experiment->resumable)
    throw UsageError("--shard: \"{}\" measures times, which machines cannot share", config.experiment->name);
  std::filesystem::create_directories(shards_folder(options.folder));
  const std::filesystem::path error_file = shard_error_file(options.folder, options.shard);
  std::filesystem::remove(error_file);
  try {
    return run(config, options);
  } catch (const ConfigError& error) {
    write_file_atomically(error_file, printable(error.sentence()));
    throw;
  } catch (const std::exception& error) {
    write_file_atomically(error_file, printable(error.what()));
    throw;
  }
}

}  // namespace speclab

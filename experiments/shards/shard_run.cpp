#include "experiments/shards/shard_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <iterator>
#include <utility>

#include "experiments/base/format/config_error.hpp"
#include "experiments/base/support/atomic_file.hpp"
#include "experiments/base/support/printable.hpp"
#include "experiments/config/config.hpp"
#include "experiments/results/presentation.hpp"

namespace speclab {

namespace {

void remove_journals(const std::filesystem::path& folder, const Shard& shard, const JournalHead& head) {
  ShardedRun run = read_shard(folder, shard, head);
  for (const std::string& file : run.of(shard).files) std::filesystem::remove(file);
}

bool run(const Config& config, const ShardOptions& options) {
  std::optional<JournalHead> head;
  std::optional<JournalWriter> journal;
  const auto resume = [&](const RunIdentity& identity) {
    head = journal_head(identity);
    head->shard = options.shard;
    head->input = config.input;
    head->command = options.command;
    head->started = std::time(nullptr);
    if (options.anew) remove_journals(options.folder, options.shard, *head);
    ShardedRun earlier = read_shard(options.folder, options.shard, *head);
    journal.emplace(new_shard_journal(options.folder, options.shard), *head);
    Resumption resumption;
    resumption.describes = false;
    resumption.tallies = std::move(earlier.of(options.shard).tallies);
    resumption.turns = plan_of(*head, *identity.grid).turns(options.shard.index, [&](std::size_t cell) {
      return !earlier.cells.contains(cell);
    });
    resumption.keep.cell = [&](std::size_t cell, const CellResult& result) { journal->add(cell, result); };
    resumption.keep.tallies = [&](const BatchTallies& tallies) { journal->add(tallies); };
    return resumption;
  };
  const RunResult result = run_config(config, options.control_for, resume, options.backend);
  if (result.result.partial) return false;
  journal->complete();
  return true;
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
                    shard_command(run, state.shard));
  }
  if (missing > max_listed) text += fmt::format("\n  and {} more", missing - max_listed);
  if (missing == 0) return "";
  return fmt::format("{}: {} of {} shards are not complete:{}", folder.string(), missing, run.shards.size(),
                     text);
}

}  // namespace

RunResult merge_shards(const std::filesystem::path& folder,
                       const std::function<Control(std::uint64_t total)>& control_for) {
  ShardedRun run = read_shards(folder);
  const Experiment& experiment = *run.head.config->experiment;
  // During the merge, the scratch journal holds the results of cut cells.
  remove_merge_journals(folder);
  const std::filesystem::path scratch = new_merge_journal(folder);
  std::optional<JournalWriter> writer(std::in_place, scratch, run.head);
  const auto resume = [&](const RunIdentity& identity) {
    JournalHead now = journal_head(identity);
    now.backend = run.head.backend;
    now.shard = run.head.shard;
    if (const std::string reason = difference(run.head, now); !reason.empty()) {
      throw UsageError("{}: the shards cannot be merged here: {}", folder.string(), reason);
    }
    const ShardPlan plan = plan_of(run.head, *identity.grid);
    if (const std::string missing = missing_shards(folder, run, plan); !missing.empty())
      throw UsageError(missing);
    Resumption resumption;
    resumption.turns = plan.turns_of_cut_cells();
    for (ShardContent& content : run.shards)
      std::move(content.tallies.begin(), content.tallies.end(), std::back_inserter(resumption.tallies));
    resumption.keep.cell = [&](std::size_t cell, const CellResult& result) { writer->add(cell, result); };
    return resumption;
  };
  Control control;
  const auto remember = [&](std::uint64_t total) { return control = control_for(total); };
  RunResult merged = run_config(*run.head.config, remember, resume);
  writer.reset();
  if (std::filesystem::exists(scratch)) {
    scan_journal(
        scratch, [&](const JournalHead&) { run.cells.add_file(scratch); },
        [&](std::size_t cell, std::uint64_t offset, std::string_view) { run.cells.add(cell, offset); });
  }
  const auto cells = std::make_shared<const JournaledResult>(experiment, std::move(run.cells), scratch);
  if (merged.result.partial) {
    if (control.stop()) return merged;
    throw UsageError(
        "{}: the batches in its journals do not add up to their cells; remove it, and run the shards again",
        shards_folder(folder).string());
  }
  merged.all = cells;
  if (cells->size() <= max_cells_held || presentation_of(*run.head.config).needs_all_cells())
    hold_cells(merged);
  return merged;
}

bool run_shard(const Config& config, const ShardOptions& options) {
  if (!config.experiment->resumable) {
    throw UsageError("--shard: \"{}\" measures times, which machines cannot share", config.experiment->name);
  }
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

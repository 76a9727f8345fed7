#include "experiments/shards/shard_run.hpp"

#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "experiments/config/config_error.hpp"
#include "experiments/support/atomic_file.hpp"
#include "experiments/support/printable.hpp"

namespace speclab {

namespace {

void refuse_indivisible(const Config& config) {
  if (config.experiment->resumable()) return;
  throw UsageError(
      fmt::format("--shard: \"{}\" measures times, which machines cannot share", config.experiment->name()));
}

void remove_journals(const std::filesystem::path& folder, const Shard& shard, const JournalHead& head) {
  const ShardedRun run = read_shard(folder, shard, head);
  for (const std::string& file : run.shards[static_cast<std::size_t>(shard.index - 1)].files)
    std::filesystem::remove(file);
}

bool run(const Config& config, const ShardOptions& options) {
  std::optional<JournalHead> head;
  std::optional<JournalWriter> journal;
  const auto resume = [&](const RunIdentity& identity) {
    head = journal_head(identity);
    head->shards = options.shard.count;
    head->input = config.input;
    head->command = options.command;
    head->started =
        std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch())
            .count();
    if (options.anew) remove_journals(options.folder, options.shard, *head);
    ShardedRun earlier = read_shard(options.folder, options.shard, *head);
    journal.emplace(new_shard_journal(options.folder, options.shard), *head);
    const ShardPlan plan(*config.experiment, *identity.grid, options.shard.count, options.backend);
    Resumption resumption;
    resumption.share =
        plan.share(options.shard.index, [&](std::size_t cell) { return !earlier.cells.contains(cell); });
    resumption.parts = std::move(earlier.shards[static_cast<std::size_t>(options.shard.index - 1)].parts);
    resumption.keep = [&](std::size_t cell, const CellResult& result) { journal->add(cell, result); };
    resumption.keep_part = [&](const JobPart& part) { journal->add(part); };
    return resumption;
  };
  const RunResult result = run_config(config, options.control_for, resume, options.backend);
  if (result.result.partial) return false;
  journal->complete();
  return true;
}

/// What is missing, shard by shard, with the commands that mend it.
std::string missing_shards(const std::filesystem::path& folder, const ShardedRun& run,
                           const ShardPlan& plan) {
  constexpr int most_listed = 20;
  std::string text;
  int missing = 0;
  for (const ShardState& state : shard_states(folder, run, plan)) {
    if (state.complete || ++missing > most_listed) continue;
    text +=
        fmt::format("\n  shard {}: {} of {} cells finished{}; {}", state.shard, state.finished, state.cells,
                    state.damaged > 0 ? fmt::format(", {} damaged lines", state.damaged) : "",
                    shard_command(run, state.shard));
  }
  if (missing > most_listed) text += fmt::format("\n  and {} more", missing - most_listed);
  if (missing == 0) return "";
  return fmt::format("{}: {} of {} shards are not complete:{}", folder.string(), missing, run.shards.size(),
                     text);
}

}  // namespace

bool run_shard(const Config& config, const ShardOptions& options) {
  refuse_indivisible(config);
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

RunResult merge_shards(const std::filesystem::path& folder,
                       const std::function<Control(std::uint64_t total)>& control_for) {
  ShardedRun run = read_shards(folder);
  const Experiment& experiment = *run.head.config.experiment;
  // What divided cells gave, for the time of the merge.
  remove_merge_journals(folder);
  const std::filesystem::path scratch = new_merge_journal(folder);
  std::optional<JournalWriter> writer(std::in_place, scratch, run.head);
  const auto resume = [&](const RunIdentity& identity) {
    JournalHead now = journal_head(identity);
    now.backend = run.head.backend;
    now.shards = run.head.shards;
    if (const std::string reason = difference(run.head, now); !reason.empty()) {
      throw UsageError(fmt::format("{}: the shards cannot be merged here: {}", folder.string(), reason));
    }
    const ShardPlan plan = plan_of(run, *identity.grid);
    if (const std::string missing = missing_shards(folder, run, plan); !missing.empty())
      throw UsageError(missing);
    Resumption resumption;
    resumption.share = Share{plan.blocks_of([&](std::size_t cell) { return plan.divided(cell); }), {}};
    for (ShardContent& content : run.shards)
      std::move(content.parts.begin(), content.parts.end(), std::back_inserter(resumption.parts));
    resumption.keep = [&](std::size_t cell, const CellResult& result) { writer->add(cell, result); };
    return resumption;
  };
  RunResult merged = run_config(run.head.config, control_for, resume);
  writer.reset();
  if (std::filesystem::exists(scratch)) {
    scan_journal(
        scratch, [&](const JournalHead&) { run.cells.add_file(scratch); },
        [&](std::size_t cell, std::uint64_t offset, std::string_view) { run.cells.add(cell, offset); });
  }
  const auto cells = std::make_shared<const JournaledResult>(experiment, std::move(run.cells), scratch);
  if (merged.result.partial) return merged;
  if (cells->size() > most_cells_held && !experiment.needs_all_cells()) {
    merged.all = cells;
  } else {
    cells->each([&](const CellResult& cell) { merged.result.cells.push_back(cell); });
  }
  return merged;
}

}  // namespace speclab

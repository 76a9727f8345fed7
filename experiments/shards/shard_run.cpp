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
  for (const std::string& file : read_shard(folder, shard, head).files) std::filesystem::remove(file);
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
    ShardContent earlier = read_shard(options.folder, options.shard, *head);
    journal.emplace(new_shard_journal(options.folder, options.shard), *head);
    Resumption resumption;
    const auto at = static_cast<std::size_t>(options.shard.index - 1);
    resumption.share =
        plan_shards(*config.experiment, identity.specs, options.shard.count, options.backend).shares[at];
    resumption.finished = std::move(earlier.cells);
    resumption.parts = std::move(earlier.parts);
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
                           std::span<const CellSpec> cells) {
  constexpr int most_listed = 20;
  std::string text;
  int missing = 0;
  for (const ShardState& state : shard_states(folder, run, cells)) {
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
  const auto resume = [&](const RunIdentity& identity) {
    JournalHead now = journal_head(identity);
    now.backend = run.head.backend;
    now.shards = run.head.shards;
    if (const std::string reason = difference(run.head, now); !reason.empty()) {
      throw UsageError(fmt::format("{}: the shards cannot be merged here: {}", folder.string(), reason));
    }
    if (const std::string missing = missing_shards(folder, run, identity.specs); !missing.empty())
      throw UsageError(missing);
    Resumption resumption;
    for (ShardContent& content : run.shards) {
      resumption.finished.merge(content.cells);
      std::move(content.parts.begin(), content.parts.end(), std::back_inserter(resumption.parts));
    }
    return resumption;
  };
  return run_config(run.head.config, control_for, resume);
}

}  // namespace speclab

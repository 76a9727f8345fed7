#include "experiments/shards/shard_files.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "core/stop.hpp"
#include "experiments/base/format/config_error.hpp"
#include "experiments/base/format/json_io.hpp"
#include "experiments/base/support/shell_word.hpp"
#include "experiments/config/config.hpp"

namespace speclab {

namespace {

namespace fs = std::filesystem;

std::string name_of(const Shard& shard) { return fmt::format("{}-of-{}", shard.index, shard.count); }

/// Parses a shard at the beginning of `words`: two numbers with `between` between them. If `all`, the words
/// must contain nothing else. Empty if there is none.
std::optional<Shard> shard_in(std::string_view words, std::string_view between, bool all) {
  Shard shard;
  const char* const end = words.data() + words.size();
  const auto index = std::from_chars(words.data(), end, shard.index);
  if (index.ec != std::errc() || !std::string_view(index.ptr, end).starts_with(between)) return std::nullopt;
  const auto count = std::from_chars(index.ptr + between.size(), end, shard.count);
  if (count.ec != std::errc() || (all && count.ptr != end)) return std::nullopt;
  const bool sound = 1 <= shard.index && shard.index <= shard.count && shard.count <= max_shards;
  return sound ? std::optional(shard) : std::nullopt;
}

/// Returns the journals in a folder, in the order of their names.
std::vector<std::pair<fs::path, Shard>> journals_in(const fs::path& folder) {
  std::vector<std::pair<fs::path, Shard>> journals;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(shards_folder(folder), error)) {
    const auto shard = shard_in(entry.path().filename().string(), "-of-", false);
    if (shard && entry.path().extension() == ".jsonl") journals.emplace_back(entry.path(), *shard);
  }
  std::sort(journals.begin(), journals.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  return journals;
}

/// Checks a journal's name against its first line, which determines its shard. Throws UsageError if they
/// differ.
void require_own_name(const fs::path& file, const Shard& named, const JournalHead& head) {
  if (!head.shard) {
    throw UsageError("{}: its first line belongs to a run that is not divided into shards; remove it",
                     file.string());
  }
  if (head.shard->index == named.index && head.shard->count == named.count) return;
  throw UsageError(
      "{}: its name says shard {}/{}, its first line shard {}/{}; rename it to {}.….jsonl, or remove it",
      file.string(), named.index, named.count, head.shard->index, head.shard->count, name_of(*head.shard));
}

/// Returns a journal's run, from its first line. Throws UsageError if that line contradicts itself.
ShardedRun run_of(const fs::path& file, const JournalHead& head) {
  std::shared_ptr<const Config> config;
  if (head.input) config = in_file(file.string(), [&] { return with_sections(read_config(*head.input)); });
  if (!config || config_json(*config) != config_json(*head.config) ||
      CellGrid(*config).size() != head.cells || head.shard->index > head.shard->count) {
    throw UsageError("{}: its first line contradicts itself; remove it, and run its shard again",
                     file.string());
  }
  ShardedRun run{head, std::vector<ShardContent>(static_cast<std::size_t>(head.shard->count)),
                 JournaledCells(head.cells)};
  run.head.config = config;
  return run;
}

/// Adds a journal to `run`, which `accept` has set when it returns for the first line. A cell that another
/// process has finished, too, must have the same result.
void add(const fs::path& file, const Shard& shard, std::optional<ShardedRun>& run,
         const std::function<void(const JournalHead& head)>& accept) {
  const auto begin = [&](const JournalHead& head) {
    require_own_name(file, shard, head);
    accept(head);
    run->cells.add_file(file);
  };
  const auto use = [&](std::size_t cell, std::uint64_t offset, std::string_view json) {
    end_if_stopped();
    if (!run->cells.contains(cell)) {
      run->cells.add(cell, offset);
    } else if (run->cells.json(cell) != json) {
      throw UsageError(
          "{}: it differs in cell {} from {}, which is impossible for the same program and inputs; remove the one that is wrong",
          file.string(), cell, run->cells.file(cell).string());
    }
  };
  std::optional<JournalContent> from = scan_journal(file, begin, use);
  if (from && from->foreign) {
    throw UsageError("{}: another program wrote it; remove it, and run all shards with one program",
                     file.string());
  }
  if (!from || !from->head) return;
  ShardContent& content = run->of(shard);
  content.damaged += from->damaged;
  content.files.push_back(file.string());
  const auto last = std::chrono::file_clock::to_sys(fs::last_write_time(file)).time_since_epoch();
  content.working_seconds += std::max(
      std::chrono::duration<double>(last).count() - static_cast<double>(from->head->started.value_or(0)),
      0.0);
}

}  // namespace

Shard shard_named(const std::string& words) {
  if (const auto shard = shard_in(words, "/", true)) return *shard;
  throw UsageError("--shard {}: expected I/N with 1 <= I <= N <= {}, for example 3/8", words, max_shards);
}

fs::path shards_folder(const fs::path& folder) { return folder / "shards"; }

// The name is SHARD.HOST-PROCESS-TIME-NUMBER.jsonl.
fs::path new_shard_journal(const fs::path& folder, const Shard& shard) {
  static std::atomic<int> journals{0};
  std::string host(256, '\0');
  if (::gethostname(host.data(), host.size() - 1) != 0) host = "host";
  host.resize(std::char_traits<char>::length(host.c_str()));
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return shards_folder(folder) /
         fmt::format("{}.{}-{}-{}-{}.jsonl", name_of(shard), host, ::getpid(),
                     std::chrono::duration_cast<std::chrono::milliseconds>(now).count(), ++journals);
}

fs::path shard_error_file(const fs::path& folder, const Shard& shard) {
  return shards_folder(folder) / (name_of(shard) + ".error");
}

ShardedRun read_shard(const fs::path& folder, const Shard& shard, const JournalHead& head) {
  std::optional<ShardedRun> run = ShardedRun{
      head, std::vector<ShardContent>(static_cast<std::size_t>(shard.count)), JournaledCells(head.cells)};
  bool looked = false;
  for (const auto& [file, of] : journals_in(folder)) {
    const auto accept = [&, &file = file](const JournalHead& found) {
      const std::string reason = difference(found, head);
      if (reason.empty()) return;
      throw UsageError("{}: {}; remove it, or choose another --out", file.string(), reason);
    };
    if (of.index != shard.index && of.count == shard.count) {
      // One is enough, since each shard looked at one when it began; a run may have very many.
      const auto other = looked ? std::nullopt : read_journal_head(file);
      if (other) accept(*other);
      looked = looked || other;
      continue;
    }
    add(file, of, run, accept);
  }
  return *std::move(run);
}

ShardedRun read_shards(const fs::path& folder) {
  std::optional<ShardedRun> run;
  fs::path first;
  for (const auto& [file, shard] : journals_in(folder)) {
    const auto accept = [&, &file = file](const JournalHead& found) {
      if (!run) {
        run = run_of(file, found);
        first = file;
      } else if (const std::string reason = difference(found, run->head); !reason.empty()) {
        throw UsageError("{} and {} are of different runs: {}; keep those of one", file.string(),
                         first.string(), reason);
      }
    };
    add(file, shard, run, accept);
  }
  if (run) return *std::move(run);
  throw UsageError("{}: no journals of shards in it; `speclab run CONFIG --shard 1/8 {}` runs one",
                   shards_folder(folder).string(), shell_line(option_words("--out", folder.string())));
}

std::vector<ShardState> shard_states(const fs::path& folder, const ShardedRun& run, const ShardPlan& plan) {
  const auto count = static_cast<int>(run.shards.size());
  std::vector<ShardState> states(run.shards.size());
  for (std::size_t cell = 0; cell < plan.cells(); ++cell) {
    ShardState& state = states[static_cast<std::size_t>(plan.shard_of(cell) - 1)];
    ++state.cells;
    state.finished += run.cells.contains(cell) ? 1 : 0;
  }
  for (std::size_t at = 0; at < states.size(); ++at) {
    ShardState& state = states[at];
    const ShardContent& content = run.shards[at];
    state.shard = static_cast<int>(at) + 1;
    state.damaged = content.damaged;
    state.complete = state.finished == state.cells;
    if (!state.complete && state.finished > 0) {
      const auto left = static_cast<double>(state.cells - state.finished);
      state.seconds_left = content.working_seconds * left / static_cast<double>(state.finished);
    }
    const fs::path error_file = shard_error_file(folder, {state.shard, count});
    if (!state.complete && fs::exists(error_file)) state.error = read_text(error_file);
  }
  return states;
}

std::string shard_command(const fs::path& folder, const ShardedRun& run, int shard) {
  return fmt::format("{} {} --shard {}/{}", run.head.command.value_or("speclab run CONFIG"),
                     shell_line(option_words("--out", folder.string())), shard, run.shards.size());
}

}  // namespace speclab

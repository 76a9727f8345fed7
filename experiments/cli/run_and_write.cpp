#include "experiments/cli/run_and_write.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>
#include <string_view>

#include "core/stop.hpp"
#include "experiments/base/command/options.hpp"
#include "experiments/base/command/out_folder.hpp"
#include "experiments/base/format/config_error.hpp"
#include "experiments/base/support/machine.hpp"
#include "experiments/base/support/printable.hpp"
#include "experiments/base/support/shell_word.hpp"
#include "experiments/config/load_config.hpp"
#include "experiments/results/folder_lock.hpp"
#include "experiments/results/result_files.hpp"
#include "experiments/results/result_section.hpp"
#include "experiments/run/input_file.hpp"
#include "experiments/run/terminal_watch.hpp"
#include "experiments/shards/shard_run.hpp"

namespace speclab {

namespace {

constexpr std::size_t rows_on_terminal = 40;

/// Most cells of an interrupted run that are written; more would delay the program's end too long.
constexpr std::size_t max_partial_cells = 4096;

void print_section(const Section& section) {
  for (std::size_t i = 0; i < section.tables.size(); ++i) {
    if (i > 0 && section.tables[i].folded) continue;  // such tables are in the report
    Table table = section.tables[i];
    if (table.rows.size() > rows_on_terminal) {
      table.note = fmt::format("The first {} rows; all are in results.csv. {}", rows_on_terminal, table.note);
      table.rows.resize(rows_on_terminal);
    }
    fmt::print("{}\n", terminal(table));
  }
  for (const Passage& passage : section.passages) fmt::print("{}\n", terminal(passage, writes_to_terminal()));
}

/// Returns the command that makes the same result in `out`, without options that do not change it.
std::string command_of_run(const Values& values, const char* verb, const std::string& file, Backend backend,
                           const std::optional<std::string>& out) {
  std::string command =
      fmt::format("speclab {} {}{}", verb, shell_word(file_argument(file)), set_arguments(values));
  if (out) command += " " + shell_line(option_words("--out", *out));
  if (const auto seed = values.given<std::int64_t>("seed")) command += fmt::format(" --seed {}", *seed);
  if (backend == Backend::cuda) command += " --backend cuda";
  return command;
}

/// Returns the folder of --out; by default out/NAME, from the config's file name and the changes by --set and
/// --seed. Throws UsageError if the file's name cannot name a folder.
std::filesystem::path run_folder(const Values& values, const std::string& file) {
  if (values.has("out")) return values.text("out");
  const std::filesystem::path name = std::filesystem::path(file).stem();
  if (name.empty() || name == "." || name == "..")
    throw UsageError("{}: no folder can be named after this file; give --out FOLDER", file);
  Words changes = values.texts("set");
  if (const auto seed = values.given<std::int64_t>("seed")) changes.push_back(fmt::format("seed={}", *seed));
  return std::filesystem::path("out") / (name.string() + changes_in_name(changes));
}

}  // namespace

std::string changes_in_name(const Words& changes) {
  std::string name;
  for (const std::string& change : changes) {
    bool parted = true;
    for (const char letter : change) {
      const bool kept = std::isalnum(static_cast<unsigned char>(letter)) != 0 ||
                        std::string_view("._=+-").find(letter) != std::string_view::npos;
      if (kept && parted && !name.ends_with('=')) name += '-';
      if (kept) name += letter;
      parted = !kept;
    }
  }
  constexpr std::size_t longest = 100;
  if (name.size() <= longest) return name;
  return fmt::format("{}-{}", name.substr(0, longest - 9), sha256(name).substr(0, 8));
}

void write_and_print(const RunResult& run, const Values& values, const std::filesystem::path& folder) {
  // Results of an interrupted run are written without another interruption; a complete result can be computed
  // again.
  std::optional<StopScope> undisturbed;
  if (run.result.partial) {
    if (complete_result(folder))
      return print_error(fmt::format("interrupted: {} keeps its complete result", folder.string()));
    std::size_t cells = 0;
    with_cells(run, [&](const CellSource& all) { cells = all.size(); });
    if (cells > max_partial_cells) {
      const auto finished = std::count_if(run.result.cells.begin(), run.result.cells.end(),
                                          [](const auto& cell) { return !cell.partial; });
      print_error(fmt::format(
          "interrupted{}. Partial results of more than {} cells are not written; the same command {}",
          run.all ? "" : fmt::format(": {} of {} cells are finished", finished, cells), max_partial_cells,
          run.all ? "starts over" : "continues"));
      return;
    }
    undisturbed.emplace(nullptr);
  }
  write_data(folder, run, values.has("csv-marked") ? CsvText::marked : CsvText::as_it_is);
  const Section section = result_section(run, "result");
  write_figures(folder, section);
  write_report(folder, result_page(run, section));
  if (!run.result.partial) remove_journal(folder);

  if (values.has("json")) {
    with_cells(run, [&](const CellSource& cells) {
      write_text(run.result, cells, [](const std::string& piece) { fmt::print("{}", piece); });
    });
  } else if (!values.has("quiet")) {
    print_section(section);
    for (const char* written : {"report.html", "result.json", "results.csv"})
      fmt::print("{}\n", printable_line((folder / written).string()));
  }
}

int run_and_write(const Values& values, const char* verb, void (*check)(const Config& config)) {
  const auto file = values.text("config");
  const bool force = values.has("force");
  const bool as_json = values.has("json");
  const bool quiet = values.has("quiet");
  const std::string resume = values.text("resume");
  const bool continues = resume == "require";
  if (!continues && resume != "auto") throw UsageError("--resume {}: expected auto or require", resume);
  const ThreadLimit limit(thread_option(values));
  const Backend backend = backend_named(values.given("backend").value_or("cpu"));
  std::optional<Shard> shard;
  if (values.has("shard")) shard = shard_named(values.text("shard"));
  if (force && continues)
    throw UsageError("--force overwrites results, --resume require continues them: leave one out");
  if (shard && (continues || as_json))
    throw UsageError(
        "--shard goes on with its own journals and prints nothing: leave out --resume and --json");
  const std::filesystem::path folder = run_folder(values, file);
  const auto config = with_sections(*load_config(file, values));
  // A shard's journal may be moved, so that its command has no folder.
  const std::string command =
      command_of_run(values, verb, file, backend, shard ? std::nullopt : values.given("out"));

  return in_file(file, [&] {
    check(*config);
    refuse_unwritable(folder);
    std::optional<FolderLock> lock;
    if (!shard) lock.emplace(folder);
    if (!force) refuse_foreign_result(folder, *config);
    if (shard) {
      TerminalWatch watch(fmt::format("shard {}/{}", shard->index, shard->count), quiet);
      const bool whole =
          run_shard(*config, {.folder = folder,
                              .shard = *shard,
                              .command = command,
                              .overwrites = force,
                              .backend = backend,
                              .control_for = [&](std::uint64_t total) { return watch.control(total); }});
      if (whole && !quiet)
        fmt::print("shard {}/{} is complete; speclab merge {}\n", shard->index, shard->count,
                   shell_word(file_argument(folder.string())));
      return whole ? exit_ok : exit_interrupted;
    }
    RunResult run = run_watched(*config, {.folder = folder,
                                          .title = std::filesystem::path(file).stem().string(),
                                          .quiet = quiet || as_json,
                                          .continues = continues,
                                          .overwrites = force,
                                          .backend = backend});
    run.timings.command = command;
    write_and_print(run, values, folder);
    return run.result.partial ? exit_interrupted : exit_ok;
  });
}

}  // namespace speclab

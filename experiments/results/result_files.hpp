// Writes the files of a run, and describes the machine.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "experiments/base/page/page.hpp"
#include "experiments/results/journal.hpp"
#include "experiments/run/run_config.hpp"

namespace speclab {

/// Removes the files of any verb's result from the folder; plots and shards stay.
void remove_result(const std::filesystem::path& folder);
/// Throws UsageError, with a remedy, if the folder holds a result or journal of another config, a report of
/// `reproduce`, a report.html alone, or a result.json that this version cannot read. `config` must include
/// its experiment's sections.
void refuse_foreign_result(const std::filesystem::path& folder, const Config& config,
                           const char* remedy = "choose another --out, or --force to overwrite");
/// Returns what stands before the cells of the folder's result; empty if there is none, or a partial one.
/// Nothing but another complete result replaces a complete one.
std::optional<ResultHead> complete_result(const std::filesystem::path& folder);
/// Removes what `refuse_foreign_result` refuses.
void remove_foreign_result(const std::filesystem::path& folder, const Config& config);

/// How results.csv writes text that a spreadsheet would take for a formula.
enum class CsvText { as_it_is, marked };

/// Writes result.json, results.csv, timings.json and the experiment's own files, each atomically.
void write_data(const std::filesystem::path& folder, const RunResult& run, CsvText text = CsvText::as_it_is);

/// Returns a page, without sections, for a command's result. Its facts are "Version", "Machine", "GPU" if one
/// was used, "Threads" and "Command"; it also says how to cite speclab.
Page page_of_command(const std::string& title, const std::string& command,
                     const std::optional<DeviceTimings>& device = {});
/// Add the facts "Input" (per file) and "Corpus", unless the page has them.
void add_input_facts(const std::vector<InputFile>& inputs, Page& page);
void add_corpus_facts(const Result& result, Page& page);

/// Options of a run that writes into a folder, which must be locked.
struct WatchedRun {
  std::filesystem::path folder;
  std::string title;  ///< title of the progress line
  bool quiet = false;
  bool continues = false;   ///< fails if there is no earlier run to continue
  bool overwrites = false;  ///< removes another config's result before the first cell is run
  Backend backend = Backend::cpu;
};

/// Runs a config with a progress line and a journal in the folder, and adds the run's seconds and the machine
/// to the timings. Says on standard error how an earlier run was used.
RunResult run_watched(const Config& config, const WatchedRun& options);

}  // namespace speclab

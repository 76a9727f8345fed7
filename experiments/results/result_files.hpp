// The files that a run leaves, and what it says about the machine.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "experiments/base/page/page.hpp"
#include "experiments/results/journal.hpp"
#include "experiments/run/run_config.hpp"

namespace speclab {

/// Throws UsageError when the folder holds a result or a journal of another config than `config`, which has
/// the sections of its experiment, or a result.json that this version cannot read; with a remedy.
void refuse_foreign_result(const std::filesystem::path& folder, const Config& config);

/// How results.csv holds text that a spreadsheet would run as a formula.
enum class CsvText { as_it_is, marked };

/// result.json, results.csv, timings.json and the experiment's own files, each written whole or not at all.
void write_data(const std::filesystem::path& folder, const RunResult& run, CsvText text = CsvText::as_it_is);

/// A page of what this command computed, without sections: its facts are "Version", "Machine", "GPU" where
/// one was used, "Threads" and "Command", and it says how to cite it.
Page page_of_command(const std::string& title, const std::string& command, Backend backend = Backend::cpu);
/// Adds the facts "Input", of each file, and "Corpus" that the page does not have.
void add_input_facts(const std::vector<InputFile>& inputs, Page& page);
void add_corpus_facts(const Result& result, Page& page);

/// How a config is run for a folder, which is locked.
struct WatchedRun {
  std::filesystem::path folder;
  std::string title;  ///< of the progress line
  bool quiet = false;
  Resume resume = Resume::automatic;
  Backend backend = Backend::cpu;
};

/// Runs a config with a progress line on the terminal and a journal in the folder, and adds the run's seconds
/// and the machine to the timings. What became of an earlier run is said on standard error.
RunResult run_watched(const Config& config, const WatchedRun& options);

}  // namespace speclab

// The files that a run leaves, and what it says about the machine.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "experiments/run/run_config.hpp"

namespace speclab {

/// The result of a folder: none when there is no result.json. Throws UsageError for a file that is not a
/// result of this version, with a remedy.
std::optional<Result> earlier_result(const std::filesystem::path& folder);

/// Throws UsageError when `earlier`, what lies in `folder`, is not a result of `config`, which has the
/// sections of its experiment.
void refuse_foreign_result(const std::filesystem::path& folder, const Result& earlier, const Config& config);

/// result.json, results.csv, timings.json and the experiment's own files, each written whole or not at all.
void write_data(const std::filesystem::path& folder, const RunResult& run);

/// "Version", "Machine", "GPU" where one was used, "Threads", "Command" for the head of a report.
std::vector<std::pair<std::string, std::string>> report_facts(const std::string& command,
                                                              Backend backend = Backend::cpu);

/// Runs a config with a progress line on the terminal, taking finished cells from `earlier` (see run_config),
/// and adds the run's seconds and the machine to the timings.
RunResult run_watched(const Config& config, const std::string& title, bool quiet,
                      const std::optional<Result>& earlier, Backend backend = Backend::cpu);

}  // namespace speclab

// The files a run leaves, and what it says about the machine.
#pragma once

#include <tbb/global_control.h>

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "experiments/laboratory.hpp"
#include "experiments/report/page.hpp"

namespace speclab {

/// The result.json of a folder: empty when there is none, null when it is not a result.
std::optional<Json> earlier_result(const std::filesystem::path& folder);

/// Throws UsageError when `earlier`, what lies in `folder`, is not a result of `config`.
void refuse_foreign_result(const std::filesystem::path& folder, const Json& earlier, const Json& config);

/// Throws UsageError when nothing can be written into `folder`, or where it would be made: better said before
/// the work than after it.
void refuse_unwritable(const std::filesystem::path& folder);

/// result.json, results.csv, timings.json and, of traced schedules, trace.json, each written whole or not at
/// all.
void write_data(const std::filesystem::path& folder, const Findings& findings);

/// Each figure of a section as a file of its own, named after its id.
void write_figures(const std::filesystem::path& folder, const Section& section);

/// "Version", "Machine", "GPU" where one was used, "Threads", "Command" for the head of a report.
std::vector<std::pair<std::string, std::string>> report_facts(const std::string& command,
                                                              Backend backend = Backend::cpu);

/// Processor, cores and system, in words.
std::string machine_description();

/// While it lives, at most `threads` threads work; 0: as many as there are cores.
class ThreadLimit {
 public:
  explicit ThreadLimit(int threads);

 private:
  tbb::global_control control_;
};

/// Worker threads in use.
int thread_count();

/// Is standard output a terminal?
bool writes_to_terminal();

/// Runs a config with a progress line on the terminal, taking finished cells from `earlier` (see run_config),
/// and adds the run's seconds and the machine to the timings.
Findings run_watched(const Json& config, const std::string& title, bool quiet, const Json& earlier,
                     Backend backend = Backend::cpu);

}  // namespace speclab

#include "experiments/output.hpp"

#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <fstream>
#include <iterator>
#include <memory>
#include <system_error>
#include <thread>

#include "experiments/format/config_error.hpp"
#include "experiments/presentation.hpp"
#include "experiments/schedule_report.hpp"
#include "experiments/support/atomic_file.hpp"
#include "experiments/support/interrupt.hpp"
#include "experiments/support/progress.hpp"
#include "experiments/version.hpp"

namespace speclab {

std::optional<Json> earlier_result(const std::filesystem::path& folder) {
  std::ifstream stream(folder / "result.json");
  if (!stream) return std::nullopt;
  const std::string text{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  Json result = Json::parse(text, nullptr, false);
  return result.is_object() ? result : Json();
}

void refuse_foreign_result(const std::filesystem::path& folder, const Json& earlier, const Json& config) {
  if (earlier.is_object() && earlier.value("config", Json()) == config) return;
  throw UsageError(
      fmt::format("{} holds the results of another config; choose another --out, or --force to overwrite",
                  folder.string()));
}

void refuse_unwritable(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::path there = std::filesystem::absolute(folder, error);
  while (!std::filesystem::exists(there, error) && there != there.parent_path()) there = there.parent_path();
  int problem = 0;
  if (!std::filesystem::is_directory(there, error)) {
    problem = ENOTDIR;
  } else if (access(there.c_str(), W_OK | X_OK) != 0) {
    problem = errno;
  }
  if (problem == 0) return;
  throw UsageError(fmt::format("--out {}: cannot write in {}: {}", folder.string(), there.string(),
                               std::generic_category().message(problem)));
}

void write_data(const std::filesystem::path& folder, const Findings& findings) {
  write_file_atomically(folder / "result.json", findings.result.dump(1) + "\n");
  write_file_atomically(folder / "results.csv", result_csv(findings.result));
  write_file_atomically(folder / "timings.json", findings.timings.dump(1) + "\n");
  const Json trace = chrome_trace(findings.result);
  if (!trace.is_null()) write_file_atomically(folder / "trace.json", trace.dump() + "\n");
}

void write_figures(const std::filesystem::path& folder, const Section& section) {
  for (const Drawing& figure : section.figures)
    write_file_atomically(folder / (figure.id + ".svg"), figure.svg + "\n");
}

std::string machine_description() {
  std::string processor = "unknown processor";
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    if (!line.starts_with("model name")) continue;
    processor = line.substr(line.find(": ") + 2);
    break;
  }
  utsname system{};
  uname(&system);
  return fmt::format("{}, {} cores, {} {}", processor, std::thread::hardware_concurrency(), system.sysname,
                     system.machine);
}

ThreadLimit::ThreadLimit(int threads)
    : control_(tbb::global_control::max_allowed_parallelism,
               threads > 0 ? static_cast<std::size_t>(threads)
                           : std::max<std::size_t>(std::thread::hardware_concurrency(), 1)) {}

bool writes_to_terminal() { return isatty(STDOUT_FILENO) == 1; }

int thread_count() {
  return static_cast<int>(tbb::global_control::active_value(tbb::global_control::max_allowed_parallelism));
}

std::vector<std::pair<std::string, std::string>> report_facts(const std::string& command, Backend backend) {
  std::vector<std::pair<std::string, std::string>> facts{{"Version", "speclab " + version_string()},
                                                         {"Machine", machine_description()}};
  if (backend == Backend::cuda) facts.emplace_back("GPU", device_words(backend));
  facts.emplace_back("Threads", fmt::format("{}", thread_count()));
  facts.emplace_back("Command", command);
  return facts;
}

Findings run_watched(const Json& config, const std::string& title, bool quiet, const Json& earlier,
                     Backend backend) {
  const auto start = std::chrono::steady_clock::now();
  std::unique_ptr<Progress> progress;
  const auto control_for = [&](std::uint64_t total) {
    progress = std::make_unique<Progress>(title, total, quiet);
    return Control{.stop = [] { return interrupted(); },
                   .progress = [&progress](std::uint64_t steps) { progress->advance(steps); }};
  };
  Findings findings = run_config(config, control_for, earlier, backend);
  progress.reset();
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  findings.timings["seconds"] = elapsed.count();
  findings.timings["threads"] = thread_count();
  findings.timings["machine"] = machine_description();
  return findings;
}

}  // namespace speclab

#include "experiments/run/result_files.hpp"

#include <fmt/format.h>

#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>

#include "experiments/config/config_error.hpp"
#include "experiments/config/json_io.hpp"
#include "experiments/support/atomic_file.hpp"
#include "experiments/support/interrupt.hpp"
#include "experiments/support/machine.hpp"
#include "experiments/support/progress.hpp"
#include "experiments/support/version.hpp"

namespace speclab {

std::optional<Result> earlier_result(const std::filesystem::path& folder) {
  const std::filesystem::path file = folder / "result.json";
  if (!std::filesystem::exists(file)) return std::nullopt;
  try {
    return in_file(file.string(), [&] { return read_result(parse_json(read_text(file))); });
  } catch (const ConfigError& error) {
    throw UsageError(
        fmt::format("{} is no result of this version ({}); choose another --out, or --force to "
                    "overwrite it",
                    file.string(), error.sentence()));
  }
}

void refuse_foreign_result(const std::filesystem::path& folder, const Result& earlier, const Config& config) {
  if (config_json(earlier.config) == config_json(config)) return;
  throw UsageError(
      fmt::format("{} holds the results of another config; choose another --out, or --force to overwrite",
                  folder.string()));
}

void write_data(const std::filesystem::path& folder, const RunResult& run) {
  const Experiment& experiment = *run.result.config.experiment;
  Json timings;
  write(timings_type(), run.timings, timings);
  write_file_atomically(folder / "result.json", result_json(run.result).dump(1) + "\n");
  write_file_atomically(folder / "results.csv", experiment.csv(run.result));
  write_file_atomically(folder / "timings.json", timings.dump(1) + "\n");
  for (const auto& [name, content] : experiment.files(run.result))
    write_file_atomically(folder / name, content);
}

std::vector<std::pair<std::string, std::string>> report_facts(const std::string& command, Backend backend) {
  std::vector<std::pair<std::string, std::string>> facts{{"Version", "speclab " + version_string()},
                                                         {"Machine", machine_description()}};
  if (backend == Backend::cuda) facts.emplace_back("GPU", device_words(backend));
  facts.emplace_back("Threads", fmt::format("{}", thread_count()));
  facts.emplace_back("Command", command);
  return facts;
}

RunResult run_watched(const Config& config, const std::string& title, bool quiet,
                      const std::optional<Result>& earlier, Backend backend) {
  const auto start = std::chrono::steady_clock::now();
  std::unique_ptr<Progress> progress;
  const auto control_for = [&](std::uint64_t total) {
    progress = std::make_unique<Progress>(title, total, quiet);
    return Control{.stop = [] { return interrupted(); },
                   .progress = [&progress](std::uint64_t steps) { progress->advance(steps); }};
  };
  RunResult run = run_config(config, control_for, earlier, backend);
  progress.reset();
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  run.timings.seconds = elapsed.count();
  run.timings.threads = thread_count();
  run.timings.machine = machine_description();
  return run;
}

}  // namespace speclab

#include "experiments/cli/verb.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "experiments/cli/out_folder.hpp"
#include "experiments/config/config_error.hpp"
#include "experiments/presentation/result_section.hpp"
#include "experiments/run/result_files.hpp"
#include "experiments/support/atomic_file.hpp"
#include "experiments/support/interrupt.hpp"
#include "experiments/support/machine.hpp"

namespace speclab {

namespace {

constexpr std::size_t rows_on_terminal = 40;

void print_section(const Section& section) {
  for (std::size_t i = 0; i < section.tables.size(); ++i) {
    const Table& table = section.tables[i];
    if (i > 0 && table.folded) continue;  // in the report
    Table shown = table;
    if (shown.rows.size() > rows_on_terminal) {
      shown.note = fmt::format("The first {} rows; all are in results.csv. {}", rows_on_terminal, table.note);
      shown.rows.resize(rows_on_terminal);
    }
    fmt::print("{}\n", terminal(shown));
  }
  for (const Passage& passage : section.passages) fmt::print("{}\n", terminal(passage, writes_to_terminal()));
}

}  // namespace

int run_and_write(const boost::program_options::variables_map& values, const char* verb,
                  void (*check)(const Config& config)) {
  const auto file = values["config"].as<std::string>();
  const bool quiet = values.count("quiet") > 0;
  const bool force = values.count("force") > 0;
  const bool as_json = values.count("json") > 0;
  const ThreadLimit limit(thread_option(values));
  const Backend backend =
      values.count("backend") > 0 ? backend_named(values["backend"].as<std::string>()) : Backend::cpu;
  const std::string name = std::filesystem::path(file).stem().string();
  const std::filesystem::path folder = values.count("out") > 0
                                           ? std::filesystem::path(values["out"].as<std::string>())
                                           : std::filesystem::path("out") / name;
  const Config config = with_sections(load_config(file, values));
  std::string command = fmt::format("speclab {} {}{}", verb, file, set_arguments(values));
  if (values.count("seed") > 0) command += fmt::format(" --seed {}", values["seed"].as<std::int64_t>());
  if (backend == Backend::cuda) command += " --backend cuda";

  const InterruptGuard guard;
  const RunResult run = in_file(file, [&] {
    check(config);
    refuse_unwritable(folder);
    const std::optional<Result> earlier = force ? std::nullopt : earlier_result(folder);
    if (earlier) refuse_foreign_result(folder, *earlier, config);
    return run_watched(config, name, quiet || as_json, earlier, backend);
  });
  write_data(folder, run);
  const Section section = result_section(run.result, run.timings, "result", command);
  write_figures(folder, section);
  const Page page{section.title, "", report_facts(command, backend), {section}};
  write_file_atomically(folder / "report.html", html(page));

  if (as_json) {
    print_json(result_json(run.result));
  } else if (!quiet) {
    print_section(section);
    for (const char* written : {"report.html", "result.json", "results.csv"})
      fmt::print("{}\n", (folder / written).string());
  }
  return run.result.partial ? exit_interrupted : exit_ok;
}

}  // namespace speclab

#include <fmt/format.h>

#include <filesystem>

#include "experiments/format/config_error.hpp"
#include "experiments/format/validate.hpp"
#include "experiments/output.hpp"
#include "experiments/presentation.hpp"
#include "experiments/support/atomic_file.hpp"
#include "experiments/support/interrupt.hpp"
#include "experiments/verbs/verb.hpp"

namespace speclab {

namespace {

constexpr std::size_t rows_on_terminal = 40;

}  // namespace

int run_and_write(const boost::program_options::variables_map& values, const char* verb,
                  void (*check)(const Json& resolved)) {
  const auto file = values["config"].as<std::string>();
  const bool quiet = values.count("quiet") > 0;
  const bool force = values.count("force") > 0;
  const bool as_json = values.count("json") > 0;
  const ThreadLimit limit(thread_option(values));
  const Backend backend =
      values.count("backend") > 0 ? backend_named(values["backend"].as<std::string>()) : Backend::cpu;
  const std::filesystem::path folder =
      values.count("out") > 0 ? std::filesystem::path(values["out"].as<std::string>())
                              : std::filesystem::path("out") / std::filesystem::path(file).stem();
  const Json config = load_config(file, values);
  std::string command = fmt::format("speclab {} {}{}", verb, file, set_arguments(values));
  if (values.count("seed") > 0) command += fmt::format(" --seed {}", values["seed"].as<std::int64_t>());
  if (backend == Backend::cuda) command += " --backend cuda";

  const InterruptGuard guard;
  const Findings findings = in_file(file, [&] {
    const Json resolved = resolve(config);
    check(resolved);
    refuse_unwritable(folder);
    const std::optional<Json> earlier = force ? std::nullopt : earlier_result(folder);
    if (earlier) refuse_foreign_result(folder, *earlier, with_sections(resolved));
    return run_watched(config, std::filesystem::path(file).stem().string(), quiet || as_json,
                       earlier.value_or(Json()), backend);
  });
  write_data(folder, findings);
  const Section section = result_section(findings.result, findings.timings, "result", command);
  write_figures(folder, section);
  const Page page{section.title, "", report_facts(command, backend), {section}};
  write_file_atomically(folder / "report.html", html(page));

  if (as_json) {
    fmt::print("{}\n", findings.result.dump(1));
  } else if (!quiet) {
    for (std::size_t i = 0; i < section.tables.size(); ++i) {
      const Table& table = section.tables[i];
      if (i > 0 && table.folded) continue;  // in the report
      Table shown = table;
      if (shown.rows.size() > rows_on_terminal) {
        shown.note =
            fmt::format("The first {} rows; all are in results.csv. {}", rows_on_terminal, table.note);
        shown.rows.resize(rows_on_terminal);
      }
      fmt::print("{}\n", terminal(shown));
    }
    for (const Passage& passage : section.passages)
      fmt::print("{}\n", terminal(passage, writes_to_terminal()));
    for (const char* name : {"report.html", "result.json", "results.csv"})
      fmt::print("{}\n", (folder / name).string());
  }
  return findings.result.at("partial").get<bool>() ? exit_interrupted : exit_ok;
}

int run_verb(const std::vector<std::string>& arguments) {
  Usage usage{
      .line = "speclab run CONFIG.json [options]",
      .about =
          "Runs the experiment that the config describes, with its cases and its sweep, and writes\n"
          "result.json, results.csv, timings.json and report.html. result.json depends on the config\n"
          "and the seed alone. After Ctrl-C the results so far are written, marked partial (exit 130);\n"
          "the same command again goes on from them. --backend cuda simulates coins (iid), and decode and\n"
          "optimal_gamma over stored rows, on a GPU: the same bytes of result.json.",
      .examples =
          "  speclab run configs/first.json\n"
          "  speclab run configs/first.json --set gamma=3 --set models.draft.alpha=0.9 --out out/g3\n"
          "  speclab run configs/first.json --set plan.trials=100000 --backend cuda --out out/gpu\n",
      .positional = "config"};
  add_run_options(usage.options);
  add_backend_option(usage.options);
  const auto values = parse(usage, arguments);
  return values ? run_and_write(*values, "run", [](const Json&) {}) : exit_ok;
}

}  // namespace speclab

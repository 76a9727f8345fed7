#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "experiments/format/config_error.hpp"
#include "experiments/output.hpp"
#include "experiments/presentation.hpp"
#include "experiments/support/atomic_file.hpp"
#include "experiments/support/csv.hpp"
#include "experiments/support/data_files.hpp"
#include "experiments/support/interrupt.hpp"
#include "experiments/verbs/verb.hpp"

namespace speclab {

namespace {

namespace po = boost::program_options;
namespace fs = std::filesystem;

struct Entry {
  std::string name;
  fs::path file;
};

/// The configs of a folder, tables before figures, each in the order of their numbers.
std::vector<Entry> entries(const fs::path& folder) {
  std::vector<Entry> all;
  std::error_code error;
  for (const auto& file : fs::directory_iterator(folder, error)) {
    if (file.path().extension() == ".json") all.push_back({file.path().stem().string(), file.path()});
  }
  if (error || all.empty()) {
    throw UsageError(
        fmt::format("--configs {}: no configs there; run from the project's folder, or name the folder "
                    "that holds table1.json",
                    folder.string()));
  }
  const auto rank = [](const Entry& entry) {
    return std::pair(entry.name.starts_with("figure"), entry.name);
  };
  std::sort(all.begin(), all.end(), [&](const Entry& a, const Entry& b) { return rank(a) < rank(b); });
  return all;
}

/// Those named by --only, a comma-separated list; all without it.
std::vector<Entry> chosen(const std::vector<Entry>& all, const std::string& only) {
  if (only.empty()) return all;
  std::vector<std::string> names;
  names.reserve(all.size());
  for (const Entry& entry : all) names.push_back(entry.name);
  std::vector<Entry> picked;
  std::istringstream words(only);
  for (std::string word; std::getline(words, word, ',');) {
    const auto found = std::find(names.begin(), names.end(), word);
    if (found == names.end())
      throw UsageError(fmt::format("--only: unknown \"{}\"{}", word, suggestion(word, names)));
    picked.push_back(all[static_cast<std::size_t>(found - names.begin())]);
  }
  return picked;
}

std::string summary_csv(const Table& table) {
  std::vector<std::vector<CsvValue>> rows;
  for (const auto& row : table.rows) {
    std::vector<CsvValue>& values = rows.emplace_back();
    for (const Cell& cell : row) values.emplace_back(cell.text);
  }
  return csv(table.columns, rows);
}

}  // namespace

int reproduce_verb(const std::vector<std::string>& arguments) {
  Usage usage{
      .line = "speclab reproduce [--only table1,figure3,...] [--out DIR]",
      .about =
          "Runs every config of configs/paper: each table and figure of Leviathan et al. 2023, simulated\n"
          "beside its formula and its printed value, and writes one report. A printed value that does\n"
          "not reproduce is a finding, not a failure. Exit code 1 when a formula lies outside a\n"
          "simulated interval, 2 when a config could not run.",
      .examples = "  speclab reproduce\n  speclab reproduce --only table1,figure3 --out out/some\n",
      .positional = ""};
  usage.options.add_options()("only", po::value<std::string>()->default_value(""),
                              "comma-separated names; default all")(
      "out", po::value<std::string>()->default_value("out"), "folder for the report and the results")(
      "configs", po::value<std::string>()->default_value(data_file("configs/paper").string()),
      "folder of the configs")("set", po::value<std::vector<std::string>>()->composing(),
                               "path=value: change every config")(
      "threads", po::value<int>()->default_value(0), "threads; 0: all cores. Results do not depend on it")(
      "quiet,q", "no table, no progress");
  const auto values = parse(usage, arguments);
  if (!values) return exit_ok;
  const bool quiet = values->count("quiet") > 0;
  const ThreadLimit limit(thread_option(*values));
  const fs::path out = (*values)["out"].as<std::string>();
  const auto only = (*values)["only"].as<std::string>();
  const std::vector<Entry> todo = chosen(entries((*values)["configs"].as<std::string>()), only);
  refuse_unwritable(out);
  const std::string changes = set_arguments(*values);
  const std::string command =
      (only.empty() ? "speclab reproduce" : "speclab reproduce --only " + only) + changes;

  const InterruptGuard guard;
  Page page{"speclab: the paper's tables and figures",
            "Leviathan, Kalman and Matias 2023, simulated and computed",
            report_facts(command),
            {}};
  std::vector<std::vector<Cell>> summary;
  int code = exit_ok;
  for (const Entry& entry : todo) {
    if (interrupted()) break;
    try {
      const Findings findings = in_file(entry.file.string(), [&] {
        return run_watched(load_config(entry.file.string(), *values), entry.name, quiet,
                           earlier_result(out / entry.name).value_or(Json()));
      });
      write_data(out / entry.name, findings);
      Section section = result_section(findings.result, findings.timings, entry.name,
                                       "speclab reproduce --only " + entry.name + changes);
      write_figures(out / entry.name, section);
      if (!quiet) {
        for (const Passage& passage : section.passages) {
          fmt::print("{}\n", terminal(passage, writes_to_terminal()));
        }
      }
      page.sections.push_back(std::move(section));
      for (auto& row : summary_rows(findings.result, entry.name)) summary.push_back(std::move(row));
      const Agreement agreement = result_agreement(findings.result);
      if (agreement.held < agreement.judged) code = std::max<int>(code, exit_failed_check);
    } catch (const ConfigError& error) {
      summary.push_back({{entry.name, {}, ""}, {}, {}, {}, {"not run: " + error.sentence(), {}, "bad"}});
      fmt::print(stderr, "error: {}\n", error.sentence());
      code = exit_bad_input;
    }
  }
  const Table table = summary_table(std::move(summary));
  Section overview{"overview", "Summary", "", {table}, {}, {}, {}};
  if (interrupted()) overview.notes.emplace_back("Interrupted: partial results.");
  page.sections.insert(page.sections.begin(), std::move(overview));
  write_file_atomically(out / "report.html", html(page));
  write_file_atomically(out / "summary.csv", summary_csv(table));
  if (!quiet) fmt::print("{}\nreport: {}\n", terminal(table), (out / "report.html").string());
  return interrupted() ? exit_interrupted : code;
}

}  // namespace speclab

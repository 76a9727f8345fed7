#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/stop.hpp"
#include "experiments/base/command/options.hpp"
#include "experiments/base/command/out_folder.hpp"
#include "experiments/base/command/verb.hpp"
#include "experiments/base/format/config_error.hpp"
#include "experiments/base/format/fields.hpp"
#include "experiments/base/format/json_io.hpp"
#include "experiments/base/page/page_text.hpp"
#include "experiments/base/support/atomic_file.hpp"
#include "experiments/base/support/csv.hpp"
#include "experiments/base/support/data_files.hpp"
#include "experiments/base/support/interrupt.hpp"
#include "experiments/base/support/machine.hpp"
#include "experiments/base/support/shell_word.hpp"
#include "experiments/cli/run_and_write.hpp"
#include "experiments/config/load_config.hpp"
#include "experiments/results/folder_lock.hpp"
#include "experiments/results/printed_numbers.hpp"
#include "experiments/results/result_files.hpp"
#include "experiments/results/result_section.hpp"
#include "experiments/results/summary.hpp"

namespace speclab {

namespace {

namespace fs = std::filesystem;

constexpr const char* usual_paper = "leviathan";

/// A paper, as one file of configs/papers describes it.
struct Paper {
  std::string name;                   ///< the file's
  std::string citation;               ///< the subtitle of its page
  std::string folder;                 ///< of its configs, one for each section of the page
  std::vector<std::string> sections;  ///< names of the configs in the order of the paper
};

std::vector<std::string> paper_names() {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& file : fs::directory_iterator(data_file("configs/papers"), error)) {
    if (file.path().extension() == ".json") names.push_back(file.path().stem().string());
  }
  std::ranges::sort(names);
  return names;
}

/// Reads a paper. Throws UsageError for an unknown name, and ConfigError for a file that is no paper.
Paper read_paper(const std::string& name) {
  const std::vector<std::string> names = paper_names();
  if (std::ranges::find(names, name) == names.end())
    throw UsageError("--paper: unknown \"{}\"{}", name, suggestion(name, names));
  static const auto type = object<Paper>(
      "paper", "A paper of speclab reproduce.",
      {required(field("citation", &Paper::citation, text(), "The subtitle of the page.")),
       required(field("folder", &Paper::folder, text(), "The folder of its configs.")),
       field("sections", &Paper::sections, list(text()), "The names of the configs in the paper's order.")});
  const fs::path file = data_file("configs/papers") / (name + ".json");
  Paper paper = in_file(file.string(), [&] { return read(type, parse_json(read_text(file)), ""); });
  paper.name = name;
  return paper;
}

/// Returns the configs of --configs or of the paper's own folder, in the order of the paper; those that it
/// does not name follow by name.
std::vector<fs::path> configs_of(const Paper& paper, const Values& values) {
  const fs::path folder = values.has("configs") ? fs::path(values.text("configs")) : data_file(paper.folder);
  std::vector<fs::path> all;
  std::error_code error;
  for (const auto& file : fs::directory_iterator(folder, error)) {
    if (file.path().extension() != ".json") continue;
    const std::string name = file.path().stem().string();
    if (!is_markup_id(name)) {
      throw UsageError(
          "--configs {}: \"{}\" cannot be the name of a section; names of configs are a letter, then letters, digits, '-' and '_'",
          folder.string(), name);
    }
    all.push_back(file.path());
  }
  if (error || all.empty()) {
    throw UsageError(
        "--configs {}: no configs there; run from the project's folder, or name the folder that holds table1.json",
        folder.string());
  }
  const auto rank = [&](const fs::path& file) {
    const std::string name = file.stem().string();
    return std::pair(std::ranges::find(paper.sections, name) - paper.sections.begin(), name);
  };
  std::sort(all.begin(), all.end(), [&](const fs::path& a, const fs::path& b) { return rank(a) < rank(b); });
  return all;
}

/// Returns the files that --only names, each once and in its order; all if it names none. Throws UsageError
/// for a name that matches no file.
std::vector<fs::path> chosen(const std::vector<fs::path>& files, const Values& values) {
  std::vector<std::string> names;
  for (const fs::path& file : files) names.push_back(file.stem().string());
  std::vector<fs::path> picked;
  for (const std::string& name : split(values.text("only"), ',')) {
    if (name.empty()) continue;  // after a comma at the end of the list
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) throw UsageError("--only: unknown \"{}\"{}", name, suggestion(name, names));
    const fs::path& file = files[static_cast<std::size_t>(found - names.begin())];
    if (std::find(picked.begin(), picked.end(), file) == picked.end()) picked.push_back(file);
  }
  if (picked.empty() && !values["only"].defaulted()) throw UsageError("--only: names no config");
  return picked.empty() ? files : picked;
}

/// Returns the command as typed, but only for the configs that `only` names.
std::string command(const Values& values, const std::string& only) {
  std::string typed = "speclab reproduce";
  if (values.text("paper") != usual_paper) typed += " --paper " + shell_word(values.text("paper"));
  if (!only.empty()) typed += " --only " + shell_word(only);
  if (values.has("configs")) typed += " --configs " + shell_word(values.text("configs"));
  return typed + set_arguments(values);
}

/// Returns the folder of --out. The default is "out" for the full report on the usual paper, with a folder
/// for each other paper's; a report of some configs, other configs or changed configs has its own folder, so
/// that it does not replace the full one.
fs::path report_folder(const Values& values) {
  if (!values["out"].defaulted()) return values.text("out");
  Words changes = values.texts("set");
  for (const char* option : {"only", "configs"}) {
    if (values.has(option) && !values[option].defaulted())
      changes.push_back(fmt::format("{}={}", option, values.text(option)));
  }
  fs::path folder = "out";
  if (values.text("paper") != usual_paper) folder /= values.text("paper");
  return changes.empty() ? folder : folder / ("reproduce" + changes_in_name(changes));
}

/// Throws UsageError if the report in `out` is not of this verb, or has sections that this one lacks.
void refuse_other_report(const fs::path& out, const std::vector<fs::path>& all,
                         const std::vector<fs::path>& todo) {
  if (fs::exists(out / "result.json") || fs::exists(out / "journal.jsonl") ||
      (fs::exists(out / "report.html") && !fs::exists(out / "summary.csv")))
    throw UsageError("{} holds other results; choose another --out, or --force", out.string());
  std::string lost;
  for (const fs::path& file : all) {
    const std::string name = file.stem().string();
    if (!fs::exists(out / "report.html") || !fs::exists(out / name / "result.json")) continue;
    if (std::find(todo.begin(), todo.end(), file) == todo.end()) lost += " " + name;
  }
  if (!lost.empty()) {
    throw UsageError(
        "--out {}: its report would lose these sections:{}; choose another --out, or --force to overwrite",
        out.string(), lost);
  }
}

/// Throws UsageError if no config reads an option --set, or, without --force, if a section's folder holds
/// another config's results.
void refuse_unread_or_foreign(const fs::path& out, const std::vector<fs::path>& todo, const Values& values) {
  std::set<std::string> read;
  for (const fs::path& file : todo) {
    try {
      const auto config = load_config(file.string(), values, &read);
      if (!values.has("force")) refuse_foreign_result(out / file.stem(), *with_sections(*config));
    } catch (const ConfigError&) {  // the report shows this error in the config's section
    }
  }
  for (const std::string& one : values.texts("set")) {
    if (!read.contains(one)) throw UsageError("--set {}: none of these configs reads it", one);
  }
}

/// Runs one config, writes its files, and adds its results to page and summary. Returns the exit code.
int reproduce(const fs::path& file, const Values& values, const fs::path& out, Page& page,
              PrintedNumbers& numbers, Summary& summary) {
  const std::string name = file.stem().string();
  const bool quiet = values.has("quiet");
  const FolderLock lock(out / name);
  RunResult run = in_file(file.string(), [&] {
    std::set<std::string> read;
    RunResult made =
        run_watched(*load_config(file.string(), values, &read),
                    {.folder = out / name, .title = name, .quiet = quiet, .overwrites = values.has("force")});
    hold_cells(made);  // the summary reads them
    return made;
  });
  run.timings.command = command(values, name);
  std::optional<StopScope> undisturbed;
  if (run.result.partial) undisturbed.emplace(nullptr);
  Section section = result_section(run, name);
  if (!run.result.partial || !complete_result(out / name)) {
    write_data(out / name, run);
    write_figures(out / name, section);
  }
  if (!run.result.partial) remove_journal(out / name);
  if (!quiet) {
    for (const Passage& passage : section.passages)
      fmt::print("{}\n", terminal(passage, writes_to_terminal()));
    if (const Table beside = measured_table(run.result, "beside"); !beside.rows.empty())
      fmt::print("{}\n", terminal(beside));
  }
  section.folded = true;
  page.sections.push_back(std::move(section));
  add_input_facts(run.result.inputs, page);
  add_corpus_facts(run.result, page);
  numbers.add(run.result, name);
  summary.add(run.result, name);
  const Agreement found = agreement(run.result);
  return found.held < found.compared ? exit_failed_check : exit_ok;
}

/// Links to the other papers' reports that lie where the default folders are, relative to this one.
void add_links(const fs::path& out, const Paper& paper, Page& page) {
  for (const std::string& name : paper_names()) {
    if (name == paper.name) continue;
    fs::path place = paper.name == usual_paper ? "" : "..";
    if (name != usual_paper) place /= name;
    place /= "report.html";
    if (fs::exists(out / place)) page.links.emplace_back(read_paper(name).citation, place.string());
  }
}

int reproduce_main(const Values& values) {
  const bool quiet = values.has("quiet");
  const ThreadLimit limit(thread_option(values));
  const fs::path out = report_folder(values);
  const std::string again = command(values, values.text("only"));
  const Paper paper = read_paper(values.text("paper"));
  const std::vector<fs::path> all = configs_of(paper, values);
  const std::vector<fs::path> todo = chosen(all, values);
  refuse_unwritable(out);
  if (!values.has("force")) refuse_other_report(out, all, todo);
  refuse_unread_or_foreign(out, todo, values);
  const bool keeps = !values.has("force") && fs::exists(out / "summary.csv") &&
                     std::ranges::all_of(todo, [&](const fs::path& file) {
                       return complete_result(out / file.stem()).has_value();
                     });
  const FolderLock lock(out);

  Page page = page_of_command("speclab: the paper's tables and figures", again);
  page.subtitle = paper.citation;
  add_links(out, paper, page);
  PrintedNumbers numbers;
  Summary summary;
  int code = exit_ok;
  for (const fs::path& file : todo) {
    if (interrupted()) break;
    try {
      code = std::max(code, reproduce(file, values, out, page, numbers, summary));
    } catch (const Stopped&) {
      break;  // nothing remains of this config; the results of the others are written
    } catch (const ConfigError& error) {
      summary.add_failure(file.stem().string(), error.sentence());
      print_error("error: " + error.sentence());
      code = exit_bad_input;
    }
  }
  if (interrupted() && keeps) return interrupted_exit((out.string() + " keeps its complete report").c_str());
  std::optional<StopScope> undisturbed;
  if (interrupted()) undisturbed.emplace(nullptr);
  Table table = summary.table();
  Section overview{
      .id = "overview", .title = "Summary", .tables = {summary.sections(), table}, .beside = true};
  overview.tables.back().folded = true;
  if (interrupted()) overview.notes.emplace_back("Interrupted: partial results.");
  for (Figure& figure : numbers.figures()) {
    figure.id = "printed-numbers";
    figure.command = again;
    overview.figures.push_back(draw(figure));
  }
  if (values.has("force")) remove_result(out);
  page.headline = numbers.sentence();
  page.sections.insert(page.sections.begin(), std::move(overview));
  write_file_atomically(out / "summary.csv", summary.csv());
  write_report(out, page);
  if (!quiet) fmt::print("{}\nreport: {}\n", terminal(table), (out / "report.html").string());
  return interrupted() ? exit_interrupted : code;
}

}  // namespace

Verb reproduce_verb() {
  Verb verb{
      .name = "reproduce",
      .sentence = "redraw the paper's tables and figures, and say which printed numbers reproduce",
      .line = "speclab reproduce [--only table1,figure3,...] [--out DIR]",
      .about =
          R"(Runs every config of a paper: each table and figure, simulated, computed or measured, and compared
with its formula and its printed value, and writes one report. The papers are leviathan (Leviathan et al. 2023,
the default) and wagner (Wagner et al. 2024); each has a file in configs/papers. A printed value that does
not reproduce is a finding, not a failure. The exit code is 1 if a formula lies outside a simulated interval, and 2 if
a config could not run. A report on some configs (--only) or with changes (--set) gets its own folder under
out/. Without --force, a report with more configs or other settings is not overwritten.
)",
      .examples = R"(  speclab reproduce
  speclab reproduce --only table1,figure3 --out out/some
  speclab reproduce --paper wagner
)",
      .run = reproduce_main};
  verb.add<std::string>("paper NAME", usual_paper, "the paper");
  verb.add<std::string>("only NAME,...", "", "names of configs (default: all)");
  verb.add<std::string>(
      "out FOLDER", "out",
      "folder for the report and the results; --paper, --only, --set and --configs change its default");
  verb.add<std::string>("configs FOLDER", "folder of the configs (default: the paper's)");
  add_set_option(verb, "change every config whose experiment reads this");
  add_thread_option(verb);
  verb.add("force", "overwrite a report with more configs, or the results of other configs");
  verb.add("quiet,q", "print neither table nor progress");
  return verb;
}

}  // namespace speclab

#include "experiments/results/finding_page.hpp"

#include <boost/algorithm/string/erase.hpp>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "experiments/base/command/out_folder.hpp"
#include "experiments/base/format/config_error.hpp"
#include "experiments/base/format/json_io.hpp"
#include "experiments/base/page/page.hpp"
#include "experiments/base/support/atomic_file.hpp"
#include "experiments/base/support/version.hpp"
#include "experiments/config/config_types.hpp"
#include "experiments/results/result_files.hpp"

namespace speclab {

namespace {

/// Whether the folder holds results, and not those of this command. Only the fourth line of result.json names
/// it, since this file is written first.
bool holds_others(const std::filesystem::path& folder, const std::string& command) {
  const auto there = [&](const char* name) { return std::filesystem::exists(folder / name); };
  if (there("journal.jsonl") || there("summary.csv")) return true;
  std::ifstream file(folder / "result.json");
  std::string line;
  for (int i = 0; i < 4; ++i) std::getline(file, line);
  if (line == fmt::format(" \"command\": {},", Json(command).dump())) return false;
  return there("result.json") || there("report.html");
}

/// Returns the files that the finding was computed from, each once. Only what still has its content can be
/// hashed: a pipe has already been read to its end.
std::vector<InputFile> inputs_of(const Finding& finding) {
  std::vector<std::string> files = finding.inputs;
  if (finding.config) config_type().type->add_input_files(finding.config.get(), files);
  std::vector<InputFile> inputs;
  std::set<std::string> seen;
  for (const std::string& file : files) {
    const bool kept = std::filesystem::is_regular_file(file) || std::filesystem::is_directory(file);
    if (kept && seen.insert(file).second) inputs.push_back(input_file_of(file));
  }
  return inputs;
}

void write_finding(const std::filesystem::path& folder, const Finding& finding, const std::string& command,
                   const std::string& json, const std::vector<InputFile>& inputs) {
  Section section{
      .id = "result", .title = finding.title, .headline = finding.headline, .listing = finding.text};
  int tables = 0;
  for (auto& part : section.listing.parts) {
    // The page begins with the headline.
    if (auto* const text = std::get_if<std::string>(&part))
      boost::algorithm::erase_first(*text, finding.headline);
    if (auto* const table = std::get_if<Table>(&part)) table->id = fmt::format("table-{}", ++tables);
  }
  for (std::size_t i = 0; i < finding.figures.size(); ++i) {
    Figure figure = finding.figures[i];
    figure.id = fmt::format("figure-{}", i + 1);
    section.figures.push_back(draw(figure));
  }
  if (holds_others(folder, command)) remove_result(folder);
  write_file_atomically(folder / "result.json", json);
  write_figures(folder, section);
  Page page = page_of_command(finding.title, command);
  page.sections.push_back(std::move(section));
  add_input_facts(inputs, page);
  write_report(folder, page);
}

}  // namespace

void add_page_option(Verb& verb) {
  verb.add<std::string>("out FOLDER", "folder for a page with figures (report.html), and result.json");
  verb.add("force", "overwrite other results in that folder");
}

std::unique_ptr<FolderLock> page_lock(const Values& values) {
  if (!values.has("out")) return nullptr;
  const std::filesystem::path folder = values.text("out");
  refuse_unwritable(folder);
  auto lock = std::make_unique<FolderLock>(folder);
  if (!values.has("force") && holds_others(folder, values.command))
    throw UsageError("{} holds other results; choose another --out, or --force", folder.string());
  return lock;
}

std::vector<std::string> named_files(const Values& values) {
  namespace fs = std::filesystem;
  std::vector<std::string> files;
  for (const auto& [option, given] : values) {
    if (option == "out" || option == "server" || option == "model-name" || option == "method") continue;
    Words names;
    if (const auto* const text = boost::any_cast<std::string>(&given.value())) names = {*text};
    if (const auto* const texts = boost::any_cast<Words>(&given.value())) names = *texts;
    for (const fs::path path : names) {
      std::error_code no_name;  // values of other options may be too long for a name
      if (fs::is_regular_file(path, no_name)) files.push_back(path.string());
      const bool is_folder = fs::is_directory(path, no_name);
      const fs::path folder = is_folder ? path : path.parent_path();
      const bool model = is_folder || path.filename() == "config.json";
      for (const char* part : {"config.json", "hf_quant_config.json", "model.safetensors.index.json"}) {
        if (model && fs::is_regular_file(folder / part, no_name)) files.push_back((folder / part).string());
      }
    }
  }
  return files;
}

void show_finding(const Values& values, const Finding& finding) {
  std::string shown = terminal(finding.text);
  if (values.has("out") || values.has("json")) {
    const std::vector<InputFile> inputs = inputs_of(finding);
    Json json{{"speclab", version_string()}, {"format", result_format}, {"command", values.command}};
    if (finding.config) json["config"] = config_json(*finding.config);
    write(list(described<InputFile>()), inputs, json["inputs"]);
    json.update(parse_json(finding.json));
    const std::string text = json.dump(1) + "\n";
    if (values.has("out")) write_finding(values.text("out"), finding, values.command, text, inputs);
    if (values.has("json")) shown = text;
  }
  fmt::print("{}", shown);
}

}  // namespace speclab

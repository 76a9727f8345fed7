#include "experiments/results/finding_page.hpp"

#include <algorithm>
#include <array>
#include <boost/algorithm/string/erase.hpp>
#include <utility>

#include "experiments/base/command/out_folder.hpp"
#include "experiments/base/format/config_error.hpp"
#include "experiments/base/format/json_io.hpp"
#include "experiments/base/page/page.hpp"
#include "experiments/base/page/page_text.hpp"
#include "experiments/base/support/atomic_file.hpp"
#include "experiments/results/result_files.hpp"

namespace speclab {

namespace {

/// Whether the folder holds results, and not those of this command, which its page names.
bool holds_others(const std::filesystem::path& folder, const std::string& command) {
  const std::filesystem::path page = folder / "report.html";
  const std::string own = fmt::format("<dt>Command</dt><dd>{}</dd>", escape_markup(command));
  if (std::filesystem::exists(page) && read_text(page).find(own) != std::string::npos) return false;
  return std::ranges::any_of(std::array{"result.json", "journal.jsonl", "summary.csv"},
                             [&](const char* name) { return std::filesystem::exists(folder / name); });
}

}  // namespace

void add_page_option(Verb& verb) {
  verb.add<std::string>("out FOLDER", "folder for a page with figures (report.html), and result.json");
  verb.add("force", "overwrite other results in that folder");
}

std::filesystem::path page_folder(const Values& values) {
  if (!values.has("out")) return {};
  std::filesystem::path folder = values.text("out");
  refuse_unwritable(folder);
  if (!values.has("force") && holds_others(folder, values.command))
    throw UsageError("{} holds other results; choose another --out, or --force", folder.string());
  return folder;
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
        if (model && folder / part != path && fs::is_regular_file(folder / part, no_name))
          files.push_back((folder / part).string());
      }
    }
  }
  return files;
}

void write_finding(const std::filesystem::path& folder, const Finding& finding) {
  if (folder.empty()) return;
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
  if (holds_others(folder, finding.command)) remove_result(folder);
  write_file_atomically(folder / "result.json", finding.json + "\n");
  write_figures(folder, section);
  Page page = page_of_command(finding.title, finding.command);
  page.sections.push_back(std::move(section));
  for (const std::string& input : finding.inputs) {
    // Only a regular file can be hashed: a pipe has already been read to its end.
    if (std::filesystem::is_regular_file(input)) add_input_facts({input_file_of(input)}, page);
  }
  write_report(folder, page);
}

}  // namespace speclab

#include "experiments/results/finding_page.hpp"

#include <utility>

#include "experiments/base/command/out_folder.hpp"
#include "experiments/base/page/page.hpp"
#include "experiments/base/support/atomic_file.hpp"
#include "experiments/results/result_files.hpp"

namespace speclab {

void add_page_option(Verb& verb) {
  verb.add<std::string>("out FOLDER", "folder for a page with figures (report.html), and result.json");
}

std::filesystem::path page_folder(const Values& values) {
  if (!values.has("out")) return {};
  std::filesystem::path folder = values.text("out");
  refuse_unwritable(folder);
  return folder;
}

void write_finding(const std::filesystem::path& folder, const Finding& finding) {
  if (folder.empty()) return;
  Section section{
      .id = "result", .title = finding.title, .headline = finding.headline, .listing = finding.text};
  int tables = 0;
  for (auto& part : section.listing.parts) {
    if (auto* const table = std::get_if<Table>(&part)) table->id = fmt::format("table-{}", ++tables);
  }
  for (std::size_t i = 0; i < finding.figures.size(); ++i) {
    Figure figure = finding.figures[i];
    figure.id = fmt::format("figure-{}", i + 1);
    section.figures.push_back(draw(figure));
  }
  write_file_atomically(folder / "result.json", finding.json + "\n");
  write_figures(folder, section);
  Page page = page_of_command(finding.title, finding.command);
  page.sections.push_back(std::move(section));
  // Only a regular file can be hashed: a pipe has already been read to its end.
  if (std::filesystem::is_regular_file(finding.input)) add_input_facts({input_file_of(finding.input)}, page);
  write_report(folder, page);
}

}  // namespace speclab

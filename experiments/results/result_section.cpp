#include "experiments/results/result_section.hpp"

#include <fmt/format.h>

#include <utility>

#include "experiments/base/page/cells.hpp"
#include "experiments/results/presentation.hpp"
#include "experiments/results/result_files.hpp"

namespace speclab {

namespace {

Section section_of(const Result& result, const Timings& timings, const std::string& id) {
  const ShownConfig& config = result.shown();
  Section section{.id = id, .title = result.title, .intro = config.about};
  if (!config.source.empty()) section.notes.push_back("Source: " + config.source);
  section.notes.push_back(fmt::format("Seed {}. Redraw: {}", config.seed, timings.command.value_or("")));
  if (result.partial) section.notes.emplace_back("Interrupted: partial results.");
  section.headline = presentation_of(config).headline(result, timings);
  section.tables = tables_of(result, timings, id);
  std::vector<Figure> figures = figures_of(result, timings);
  for (std::size_t i = 0; i < figures.size(); ++i) {
    figures[i].id = fmt::format("{}-figure-{}", id, i + 1);
    section.figures.push_back(draw(figures[i]));
  }
  section.passages = passages_of(result, id);
  for (const CellResult& cell : result.cells) {
    if (!cell.note.empty()) section.notes.push_back(cell.label + ": " + cell.note);
  }
  return section;
}

Section section_of_part(const RunResult& run, const CellSource& cells, const std::string& id) {
  Overview overview = overview_of(run.result, cells);
  Section section = section_of(overview.sample, run.timings, id);
  for (Table& table : section.tables) {
    table.caption +=
        fmt::format(": {} of the {} cells", grouped(overview.sample.cells.size()), grouped(cells.size()));
  }
  section.notes.push_back(std::move(overview.note));
  section.headline += fmt::format("{}Of {} cells {} are drawn.", section.headline.empty() ? "" : " ",
                                  grouped(cells.size()), grouped(overview.sample.cells.size()));
  return section;
}

}  // namespace

Section result_section(const RunResult& run, const std::string& id) {
  Section section;
  with_cells(run, [&](const CellSource& cells) {
    section = cells.size() <= max_cells_on_page ? section_of(run.result, run.timings, id)
                                                : section_of_part(run, cells, id);
  });
  return section;
}

Page result_page(const RunResult& run, const Section& section) {
  Page page = page_of_command(section.title, run.timings.command.value_or(""), run.timings.device);
  page.sections = {section};
  add_input_facts(run.result.inputs, page);
  add_corpus_facts(run.result, page);
  return page;
}

}  // namespace speclab

#include "experiments/results/presentation.hpp"

#include "experiments/results/metric_tables.hpp"

namespace speclab {

constexpr std::size_t max_rows = 200;
constexpr std::size_t max_rows_open = 40;

std::vector<Table> metric_tables(const Result& result, const Timings&, const std::string& id) {
  const bool single = result.cells.size() == 1;
  std::vector<Table> tables{single ? metric_table(result, id + "-table")
                                   : result_table(result, id + "-table", max_rows)};
  if (single && !result.cells.front().positions.empty())
    tables.push_back(position_table(result.cells.front(), id + "-positions"));
  tables.front().folded = tables.front().rows.size() > max_rows_open;
  return tables;
}

std::vector<Figure> metric_figures(const Result& result, const Timings&) {
  std::vector<Figure> figures = sweep_figures(result);
  return figures.empty() && !result.shown().figures ? case_figures(result) : figures;
}

std::shared_ptr<const Presentation> presented(Presentation how) {
  return std::make_shared<const Presentation>(std::move(how));
}

const Presentation& presentation_of(const ShownConfig& config) { return *config.experiment->presentation; }

std::vector<Table> tables_of(const Result& result, const Timings& timings, const std::string& id) {
  return presentation_of(result.shown()).tables(result, timings, id);
}

std::vector<Figure> figures_of(const Result& result, const Timings& timings) {
  return presentation_of(result.shown()).figures(result, timings);
}

std::vector<Passage> passages_of(const Result& result, const std::string& id) {
  const auto& passages = presentation_of(result.shown()).passages;
  return passages ? passages(result, id) : std::vector<Passage>{};
}

std::string csv_of(const Result& result, const Timings& timings) {
  const auto& csv = presentation_of(result.shown()).csv;
  if (csv) return csv(result, timings);
  std::string text;
  write_csv(result, HeldCells(result), [&](const std::string& piece) { text += piece; });
  return text;
}

}  // namespace speclab

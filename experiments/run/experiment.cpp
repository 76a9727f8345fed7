#include "experiments/run/experiment.hpp"

#include <algorithm>

#include "experiments/presentation/case_figures.hpp"
#include "experiments/presentation/headline.hpp"
#include "experiments/presentation/metric_tables.hpp"
#include "experiments/presentation/result_csv.hpp"
#include "experiments/presentation/sweep_figures.hpp"

namespace speclab {

namespace {

constexpr int independent_metrics = 3;
constexpr std::size_t most_rows = 200;
constexpr std::size_t most_rows_open = 40;

}  // namespace

std::vector<CellSpec> Experiment::parts(CellSpec cell) const { return {std::move(cell)}; }

Division Experiment::division(const Config&) const { return {}; }

int Experiment::intervals(const Config&) const { return independent_metrics; }

std::vector<Table> Experiment::tables(const Result& result, const Timings&, const std::string& id) const {
  const bool single = result.cells.size() == 1;
  std::vector<Table> tables{single ? metric_table(result, id + "-table")
                                   : result_table(result, id + "-table", most_rows)};
  if (single && !result.cells.front().positions.empty())
    tables.push_back(position_table(result.cells.front(), id + "-positions"));
  tables.front().folded = tables.front().rows.size() > most_rows_open;
  return tables;
}

std::vector<Figure> Experiment::figures(const Result& result, const Timings&) const {
  std::vector<Figure> figures = sweep_figures(result);
  return figures.empty() && !result.config.figures ? case_figures(result) : figures;
}

std::string Experiment::headline(const Result& result, const Timings&) const {
  return result_headline(result);
}

std::vector<Passage> Experiment::passages(const Result&, const std::string&) const { return {}; }

std::string Experiment::csv(const Result& result, const Timings&) const {
  std::string text;
  write_csv(result, HeldCells(*this, result.cells), [&](const std::string& piece) { text += piece; });
  return text;
}

std::vector<std::pair<std::string, std::string>> Experiment::files(const Result&) const { return {}; }

const Experiment* find_experiment(const std::string& name) {
  for (const Experiment* experiment : experiments()) {
    const auto& aliases = experiment->aliases();
    if (experiment->name() == name || std::find(aliases.begin(), aliases.end(), name) != aliases.end())
      return experiment;
  }
  return nullptr;
}

}  // namespace speclab

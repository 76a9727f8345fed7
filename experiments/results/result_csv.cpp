// Writes results.csv of experiments whose cells are metrics.

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "experiments/base/format/csv_values.hpp"
#include "experiments/results/metric_tables.hpp"
#include "experiments/results/presentation.hpp"
#include "experiments/results/result_rows.hpp"

namespace speclab {

void write_csv(const Result& result, const CellSource& cells,
               const std::function<void(const std::string& piece)>& out) {
  // The columns that at least one cell needs: paths in the order of first use, metrics in their own order.
  std::vector<std::string> sets;
  std::set<Metric> printed, formulas, simulated;
  std::vector<std::string> measured;
  cells.each([&](const CellResult& cell) {
    for (const auto& [path, value] : cell.set) {
      if (std::ranges::find(sets, path) == sets.end()) sets.push_back(path);
    }
    for (const auto& [name, value] : cell.printed) {
      if (const auto metric = metric_named(name)) printed.insert(*metric);
    }
    for (const auto& [name, value] : cell.measured) {
      if (std::ranges::find(measured, name) == measured.end()) measured.push_back(name);
    }
    for (const auto& [metric, value] : cell.formula) formulas.insert(metric);
    for (const auto& [metric, value] : cell.simulated) simulated.insert(metric);
  });
  std::vector<std::string> names;
  for (const Metric metric : printed) names.push_back(fmt::format("printed_{}", metric_name(metric)));
  for (const Metric metric : formulas) names.push_back(fmt::format("formula_{}", metric_name(metric)));
  for (const Metric metric : simulated)
    add_interval_columns(names, fmt::format("simulated_{}", metric_name(metric)));
  for (const std::string& name : measured) names.push_back(measured_column(name));
  const bool explained = !measured.empty() && result.shown().measured_note.has_value();
  if (explained) names.emplace_back("measured_note");
  names.emplace_back("verdict");
  const ResultRows rows(result, sets, names);
  out(rows.header());
  std::size_t index = 0;

  cells.each([&](const CellResult& cell) {
    std::vector<CsvValue> row;
    for (const Metric metric : printed) {
      const std::string* value = printed_value(cell, metric);
      row.emplace_back(value != nullptr ? *value : std::string());
    }
    for (const Metric metric : formulas) row.push_back(csv_value(value_of(cell.formula, metric)));
    for (const Metric metric : simulated) add_interval(row, value_of(cell.simulated, metric));
    for (const std::string& name : measured) row.emplace_back(measured_text(cell, name));
    if (explained) row.emplace_back(*result.shown().measured_note);
    row.emplace_back(verdict_cell(result, cell).text);
    out(rows.line(index++, cell, std::move(row)));
  });
}

}  // namespace speclab

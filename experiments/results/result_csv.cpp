// Writes results.csv of experiments whose cells are metrics.

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "experiments/base/format/csv_values.hpp"
#include "experiments/results/metric_tables.hpp"
#include "experiments/results/presentation.hpp"
#include "experiments/results/result_rows.hpp"

namespace speclab {

namespace {

/// The columns that at least one cell needs: paths in the order of first use, metrics in their own order.
struct CsvColumns {
  std::vector<std::string> sets;
  std::set<Metric> printed, formulas, simulated;
  std::vector<std::string> measured;
};

CsvColumns columns_of(const CellSource& cells) {
  CsvColumns columns;
  cells.each([&](const CellResult& cell) {
    for (const auto& [path, value] : cell.set) {
      if (std::ranges::find(columns.sets, path) == columns.sets.end()) columns.sets.push_back(path);
    }
    for (const auto& [name, value] : cell.printed) {
      if (const auto metric = metric_named(name)) columns.printed.insert(*metric);
    }
    for (const auto& [name, value] : cell.measured) {
      if (std::ranges::find(columns.measured, name) == columns.measured.end())
        columns.measured.push_back(name);
    }
    for (const auto& [metric, value] : cell.formula) columns.formulas.insert(metric);
    for (const auto& [metric, value] : cell.simulated) columns.simulated.insert(metric);
  });
  return columns;
}

}  // namespace

void write_csv(const Result& result, const CellSource& cells,
               const std::function<void(const std::string& piece)>& out) {
  const CsvColumns columns = columns_of(cells);
  std::vector<std::string> names;
  for (const Metric metric : columns.printed) names.push_back(fmt::format("printed_{}", metric_name(metric)));
  for (const Metric metric : columns.formulas)
    names.push_back(fmt::format("formula_{}", metric_name(metric)));
  for (const Metric metric : columns.simulated)
    add_interval_columns(names, fmt::format("simulated_{}", metric_name(metric)));
  for (const std::string& name : columns.measured) names.push_back(measured_column(name));
  const bool explained = !columns.measured.empty() && result.shown().measured_note.has_value();
  if (explained) names.emplace_back("measured_note");
  names.emplace_back("verdict");
  const ResultRows rows(result, columns.sets, names);
  out(rows.header());
  std::size_t index = 0;

  cells.each([&](const CellResult& cell) {
    std::vector<CsvValue> row;
    for (const Metric metric : columns.printed) {
      const std::string* value = printed_value(cell, metric);
      row.emplace_back(value != nullptr ? *value : std::string());
    }
    for (const Metric metric : columns.formulas) row.push_back(csv_value(value_of(cell.formula, metric)));
    for (const Metric metric : columns.simulated) add_interval(row, value_of(cell.simulated, metric));
    for (const std::string& name : columns.measured) row.emplace_back(measured_text(cell, name));
    if (explained) row.emplace_back(*result.shown().measured_note);
    row.emplace_back(verdict_cell(result, cell).text);
    out(rows.line(index++, cell, std::move(row)));
  });
}

}  // namespace speclab

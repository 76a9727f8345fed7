#include "experiments/presentation/result_csv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "experiments/presentation/metric_tables.hpp"
#include "experiments/run/csv_values.hpp"

namespace speclab {

namespace {

std::vector<Metric> metrics_with(const std::vector<CellResult>& cells,
                                 bool (*has)(const CellResult& cell, Metric metric)) {
  std::vector<Metric> found;
  for (const MetricInfo& info : metric_infos()) {
    if (std::any_of(cells.begin(), cells.end(), [&](const auto& cell) { return has(cell, info.metric); }))
      found.push_back(info.metric);
  }
  return found;
}

}  // namespace

std::string result_csv(const Result& result) {
  const std::vector<CellResult>& cells = result.cells;
  const std::vector<std::string> sets = set_paths(cells);
  const auto printed = metrics_with(
      cells, [](const CellResult& cell, Metric metric) { return printed_value(cell, metric) != nullptr; });
  const auto formulas = metrics_with(
      cells, [](const CellResult& cell, Metric metric) { return find(cell.formula, metric) != nullptr; });
  const auto simulated = metrics_with(
      cells, [](const CellResult& cell, Metric metric) { return find(cell.simulated, metric) != nullptr; });

  std::vector<std::string> columns{"label"};
  columns.insert(columns.end(), sets.begin(), sets.end());
  for (const Metric metric : printed) columns.push_back(fmt::format("printed_{}", metric_name(metric)));
  for (const Metric metric : formulas) columns.push_back(fmt::format("formula_{}", metric_name(metric)));
  for (const Metric metric : simulated)
    add_interval_columns(columns, fmt::format("simulated_{}", metric_name(metric)));
  columns.emplace_back("verdict");

  std::vector<std::vector<CsvValue>> rows;
  for (const CellResult& cell : cells) {
    std::vector<CsvValue> row{cell.label};
    add_set_values(row, cell, sets);
    for (const Metric metric : printed) {
      const std::string* value = printed_value(cell, metric);
      row.emplace_back(value != nullptr ? *value : std::string());
    }
    for (const Metric metric : formulas) row.push_back(csv_value(value_of(cell.formula, metric)));
    for (const Metric metric : simulated) add_interval(row, value_of(cell.simulated, metric));
    row.emplace_back(verdict_cell(result, cell).text);
    rows.push_back(std::move(row));
  }
  return csv(columns, rows);
}

}  // namespace speclab

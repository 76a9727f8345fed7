// Shows an experiment's own results by their description alone.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "experiments/base/format/csv_values.hpp"
#include "experiments/base/page/cells.hpp"
#include "experiments/config/cells.hpp"
#include "experiments/results/presentation.hpp"
#include "experiments/results/result_rows.hpp"

namespace speclab {

namespace {

const std::vector<Field>& own_fields(const Result& result) {
  return result.shown().experiment->own_result->object()->fields();
}

/// Returns a cell's own result; an object without keys if the cell was interrupted.
Json own_json(const Result& result, const CellResult& cell) {
  Json own = Json::object();
  if (cell.own) result.shown().experiment->own_result->write(cell.own.address().get(), own);
  return own;
}

}  // namespace

std::vector<Table> own_tables(const Result& result, const Timings&, const std::string& id) {
  Table table{id + "-table", result.title, {"case"}, {}, ""};
  for (const Field& field : own_fields(result)) table.columns.push_back(field.name);
  for (std::string& column : table.columns) std::replace(column.begin(), column.end(), '_', ' ');
  for (const CellResult& cell : result.cells) {
    std::vector<Cell>& row = table.rows.emplace_back(1, text_cell(cell_name(result.shown(), cell)));
    const Json own = own_json(result, cell);
    for (const Field& field : own_fields(result)) {
      const Json value = own.value(field.name, Json());
      row.push_back(value.is_number() ? number_cell(value.get<double>())
                                      : text_cell(value.is_string() ? value.get<std::string>() : ""));
    }
  }
  return {table};
}

std::string own_csv(const Result& result, const Timings&) {
  std::vector<std::string> columns;
  for (const Field& field : own_fields(result)) columns.push_back(field.name);
  const ResultRows rows(result, set_paths(result.cells), columns);
  std::string lines = rows.header();
  for (std::size_t i = 0; i < result.cells.size(); ++i) {
    std::vector<CsvValue> row;
    const Json own = own_json(result, result.cells[i]);
    for (const std::string& column : columns) row.push_back(csv_value(own.value(column, Json())));
    lines += rows.line(i, result.cells[i], std::move(row));
  }
  return lines;
}

}  // namespace speclab

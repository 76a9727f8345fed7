// Builds a table of an experiment's own results from their description alone.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "experiments/base/page/cells.hpp"
#include "experiments/results/presentation.hpp"

namespace speclab {

namespace {

Cell own_cell(const Json& value) {
  if (value.is_number()) return number_cell(value.get<double>());
  return text_cell(value.is_string() ? value.get<std::string>() : "");
}

}  // namespace

std::vector<Table> own_tables(const Result& result, const Timings&, const std::string& id) {
  const TypePtr& type = result.shown().experiment->own_result;
  Table table{id + "-table", result.title, {"case"}, {}, ""};
  for (const Field& field : type->object()->fields()) {
    std::string& column = table.columns.emplace_back(field.name);
    std::replace(column.begin(), column.end(), '_', ' ');
  }
  for (const CellResult& cell : result.cells) {
    std::vector<Cell>& row = table.rows.emplace_back(1, text_cell(cell.label));
    Json own = Json::object();
    if (cell.own) type->write(cell.own.address().get(), own);
    for (const Field& field : type->object()->fields())
      row.push_back(own_cell(own.value(field.name, Json())));
  }
  return {table};
}

}  // namespace speclab

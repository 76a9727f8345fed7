// Turns values into fields of a .csv file.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/statistics/intervals.hpp"
#include "experiments/base/format/json.hpp"
#include "experiments/base/format/type.hpp"
#include "experiments/base/support/csv.hpp"

namespace speclab {

/// Returns numbers as numbers, text unchanged, other JSON as JSON text, and null as an empty field.
CsvValue csv_value(const Json& value);
CsvValue csv_value(const std::optional<double>& value);
CsvValue csv_value(const std::optional<bool>& value);  ///< "yes" or "no"

/// Add the columns "name", "name_low" and "name_high", and their fields, which are empty for a missing
/// interval and infinite bounds.
void add_interval_columns(std::vector<std::string>& columns, const std::string& name);
void add_interval(std::vector<CsvValue>& row, const std::optional<Interval>& interval);

namespace detail {
std::vector<CsvValue> csv_fields(const Type& type, const void* row, const std::vector<std::string>& columns);
}
/// Returns a header line and a line for each row with the values that its description has at the keys
/// `columns`; a field is empty if the row has no such value.
template <class Row>
std::string csv_of(const Typed<Row>& type, const std::vector<Row>& rows,
                   const std::vector<std::string>& columns) {
  std::vector<std::vector<CsvValue>> lines;
  for (const Row& row : rows) lines.push_back(detail::csv_fields(*type.type, &row, columns));
  return csv(columns, lines);
}

}  // namespace speclab

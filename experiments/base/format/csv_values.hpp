// From values to the fields of a .csv file.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/statistics/intervals.hpp"
#include "experiments/base/format/json.hpp"
#include "experiments/base/format/type.hpp"
#include "experiments/base/support/csv.hpp"

namespace speclab {

/// Numbers as numbers, text as it stands, other JSON as JSON; null is an empty field.
CsvValue csv_value(const Json& value);
CsvValue csv_value(const std::optional<double>& value);
CsvValue csv_value(const std::optional<bool>& value);  ///< "yes" or "no"

/// The columns "name", "name_low" and "name_high", and their fields: empty without an interval, and for
/// bounds that are not finite.
void add_interval_columns(std::vector<std::string>& columns, const std::string& name);
void add_interval(std::vector<CsvValue>& row, const std::optional<Interval>& interval);

namespace detail {
std::vector<CsvValue> csv_fields(const Type& type, const void* row, const std::vector<std::string>& columns);
}
/// A line for each row: what its description has at the keys `columns`, empty where a row has none.
template <class Row>
std::string csv_of(const Typed<Row>& type, const std::vector<Row>& rows,
                   const std::vector<std::string>& columns) {
  std::vector<std::vector<CsvValue>> lines;
  for (const Row& row : rows) lines.push_back(detail::csv_fields(*type.type, &row, columns));
  return csv(columns, lines);
}

}  // namespace speclab

// From results to the fields of results.csv.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/statistics/intervals.hpp"
#include "experiments/config/json.hpp"
#include "experiments/run/result.hpp"
#include "experiments/support/csv.hpp"

namespace speclab {

/// Every path that some cell sets, in the order of first use.
std::vector<std::string> set_paths(const std::vector<CellResult>& cells);
/// What a cell sets, null when it does not set this path.
const Json* set_value(const CellResult& cell, const std::string& path);
/// One field for each path, empty where the cell does not set it.
void add_set_values(std::vector<CsvValue>& row, const CellResult& cell,
                    const std::vector<std::string>& paths);

/// Numbers as numbers, text as it stands, other JSON as JSON; null is an empty field.
CsvValue csv_value(const Json& value);
CsvValue csv_value(const std::optional<double>& value);
CsvValue csv_value(const std::optional<bool>& value);  ///< "yes" or "no"

/// The columns "name", "name_low" and "name_high", and their fields: empty without an interval, and for
/// bounds that are not finite.
void add_interval_columns(std::vector<std::string>& columns, const std::string& name);
void add_interval(std::vector<CsvValue>& row, const std::optional<Interval>& interval);

}  // namespace speclab

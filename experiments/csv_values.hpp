// From results to fields of results.csv.
#pragma once

#include <string>
#include <vector>

#include "experiments/format/shape.hpp"
#include "experiments/support/csv.hpp"

namespace speclab {

/// The paths that cells set, in the order in which they first occur.
std::vector<std::string> set_paths(const Json& cells);

/// What a cell set at each of these paths, empty where it set nothing.
void add_set_values(std::vector<CsvValue>& row, const Json& cell, const std::vector<std::string>& paths);

/// One field: numbers as numbers, null as nothing.
CsvValue csv_value(const Json& value);

/// Estimate and both bounds of from[name], three empty fields where there is none.
void add_interval(std::vector<CsvValue>& row, const Json& from, const char* name);

}  // namespace speclab

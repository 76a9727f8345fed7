// What cells set: the paths of a sweep and of cases, and their values as text or numbers.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "experiments/run/result.hpp"
#include "experiments/support/csv.hpp"

namespace speclab {

/// The paths that cells set, in the order in which they first occur.
std::vector<std::string> set_paths(const std::vector<CellResult>& cells);

/// The number that a cell sets at a path; none when it sets none, or something else.
std::optional<double> set_number(const CellResult& cell, const std::string& path);

/// The value that a cell sets at a path, for people; none when it sets nothing there.
std::optional<std::string> set_text(const CellResult& cell, const std::string& path);

/// The value as a field of results.csv; empty when the cell sets nothing there.
CsvValue set_csv(const CellResult& cell, const std::string& path);

/// "γ" for ".../gamma"; else the last name of the path.
std::string axis_label(const std::string& path);

/// Estimate, low and high as three fields; empty ones for no interval or an unbounded end.
void add_interval(std::vector<CsvValue>& row, const Interval* interval);

}  // namespace speclab

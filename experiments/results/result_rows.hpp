// Turns results into the rows of results.csv.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "experiments/base/format/json.hpp"
#include "experiments/base/support/csv.hpp"
#include "experiments/run/result.hpp"

namespace speclab {

/// Returns every path that some cell sets, in order of first use.
std::vector<std::string> set_paths(const std::vector<CellResult>& cells);
/// Returns the value that a cell sets at this path; null if none.
const Json* set_value(const CellResult& cell, const std::string& path);
/// Returns the number that a cell sets at a path; empty if it sets none, or another type.
std::optional<double> set_number(const CellResult& cell, const std::string& path);

/// Returns a column name for a path: "/models/draft/alpha" becomes models_draft_alpha.
std::string column_name(const std::string& path);

/// Writes results.csv of any experiment. A row first identifies its cell (index from 0, label, values that it
/// sets); then come the experiment's own columns; then values equal in all rows: the config's numbers that no
/// cell sets, seed, input files with SHA-256, version. docs/results.md describes the columns.
class ResultRows {
 public:
  /// `sets`: paths that cells set; `columns`: the experiment's own.
  ResultRows(const Result& result, std::vector<std::string> sets, const std::vector<std::string>& columns);
  std::string header() const;
  /// Returns the row of a cell; `values` has one entry for each of the experiment's columns.
  std::string line(std::size_t index, const CellResult& cell, std::vector<CsvValue> values) const;

 private:
  std::vector<std::string> sets_;
  std::vector<std::string> header_;
  std::vector<CsvValue> constants_;
};

}  // namespace speclab

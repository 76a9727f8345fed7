// Turns results into the rows of results.csv.
#pragma once

#include <string>
#include <vector>

#include "experiments/base/format/json.hpp"
#include "experiments/base/support/csv.hpp"
#include "experiments/run/result.hpp"

namespace speclab {

/// Returns every path that any cell sets, in the order of first use.
std::vector<std::string> set_paths(const std::vector<CellResult>& cells);
/// Returns the value that a cell sets at this path; null if it sets none.
const Json* set_value(const CellResult& cell, const std::string& path);

/// Returns a path as a name for data frames: "/models/draft/alpha" becomes models_draft_alpha.
std::string column_name(const std::string& path);
/// Returns the column of a name in "measured" of a case: "paper: T5-XXL EnDe" becomes
/// measured_paper_T5_XXL_EnDe.
std::string measured_column(const std::string& name);

/// Writes results.csv of any experiment. Every row first identifies its cell (index from 0, label, and the
/// values it sets), then has the experiment's own columns, then values that are the same in all rows: the
/// numbers of the config that no cell sets, the seed, the input files with their SHA-256, and the version.
/// docs/results.md describes the columns.
class ResultRows {
 public:
  /// `sets` are the paths that cells set; `columns` are the experiment's own.
  ResultRows(const Result& result, std::vector<std::string> sets, const std::vector<std::string>& columns);
  std::string header() const;
  /// Returns the row of the cell at `index`; `values` holds one value for each of the experiment's columns.
  std::string line(std::size_t index, const CellResult& cell, std::vector<CsvValue> values) const;

 private:
  std::vector<std::string> sets_;
  std::vector<std::string> header_;
  std::vector<CsvValue> constants_;
};

}  // namespace speclab

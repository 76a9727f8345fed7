// From results to the rows of results.csv.
#pragma once

#include <string>
#include <vector>

#include "experiments/base/format/json.hpp"
#include "experiments/base/support/csv.hpp"
#include "experiments/run/result.hpp"

namespace speclab {

/// Every path that some cell sets, in the order of first use.
std::vector<std::string> set_paths(const std::vector<CellResult>& cells);
/// What a cell sets, null when it does not set this path.
const Json* set_value(const CellResult& cell, const std::string& path);

/// A path as a name for data frames: "/models/draft/alpha" is models_draft_alpha.
std::string column_name(const std::string& path);
/// The column of a name that "measured" of a case gives: "paper: T5-XXL EnDe" is measured_paper_T5_XXL_EnDe.
std::string measured_column(const std::string& name);

/// results.csv of any experiment: in every row which cell it is of (its index, from 0, its label and what it
/// sets), then the experiment's own columns, then what is the same in all rows: the numbers of the config
/// that no cell sets, the seed, the files that were read with their SHA-256, and the version. docs/results.md
/// describes the columns.
class ResultRows {
 public:
  /// `sets`: the paths that cells set; `columns`: the experiment's own.
  ResultRows(const Result& result, std::vector<std::string> sets, const std::vector<std::string>& columns);
  std::string header() const;
  /// The row of the cell at `index`; `values` as many as there are columns.
  std::string line(std::size_t index, const CellResult& cell, std::vector<CsvValue> values) const;

 private:
  std::vector<std::string> sets_;
  std::vector<std::string> header_;
  std::vector<CsvValue> constants_;
};

}  // namespace speclab

// What `speclab plot` draws from: rows of named columns.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/run/run_config.hpp"

namespace speclab {

/// Fields as they are written; every row as long as `columns`.
struct PlotTable {
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;
};

/// A result or a CSV file.
struct PlotSource {
  std::string name;                 ///< for people: the folder of a result, the name of another file
  std::string folder;               ///< where it lies
  std::optional<RunResult> result;  ///< of result.json, with the timings beside it
  PlotTable table;                  ///< of a result its results.csv, made anew
};

/// result.json, a folder that holds one, or a CSV file whose first line names the columns. Throws UsageError
/// for what is not there or is neither, and names file, line and fields.
PlotSource read_plot_source(const std::string& file);

/// The rows of all, over all their columns; of several with a column "source" in front.
PlotTable joined_table(const std::vector<PlotSource>& sources);

/// Records of comma-separated values with quotes as in RFC 4180. Throws std::invalid_argument ("line 3:
/// ...").
std::vector<std::vector<std::string>> csv_records(std::string_view text);

}  // namespace speclab

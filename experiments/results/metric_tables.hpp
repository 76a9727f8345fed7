// Builds tables of metrics: printed, computed and simulated values, and the verdict.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "experiments/base/page/table.hpp"
#include "experiments/run/result.hpp"

namespace speclab {

/// Returns a table with one row per cell: the values that it sets, then for each metric the printed value,
/// the formula and the simulated value, then the verdict. Has at most `max_rows` rows, and a note if there
/// are more cells.
Table result_table(const Result& result, const std::string& id, std::size_t max_rows);

/// Returns a table for a result of one cell, with one row per metric.
Table metric_table(const Result& result, const std::string& id);

/// Returns a table of acceptance by position, beside alpha^i.
Table position_table(const CellResult& cell, const std::string& id);

/// Returns a verdict such as "reproduces; formula in 6 of 6": whether the formula reproduces the printed
/// values (by metric if verdicts differ), how many intervals contain it, and the experiment's remark.
Cell verdict_cell(const Result& result, const CellResult& cell);

/// Returns a note such as "± is the 95% interval", which also says whether the intervals hold jointly at that
/// level, and why some are unknown.
std::string interval_note(const Result& result, std::uint64_t min_sequences = min_independent_trials);
/// Returns a note that explains "± ?".
std::string unknown_error_note(std::uint64_t min_sequences = min_independent_trials);

/// Returns the metrics of tables: those that the config names, else the experiment's.
std::vector<Metric> shown_metrics(const Result& result);

/// Returns the simulated value, marked if it is proved; empty if there is none.
Cell simulated_cell(const CellResult& cell, Metric metric);
/// Returns a text such as "formula in 6 of 6": how many intervals contain the formula.
std::string agreement_text(const Agreement& agreement);
/// Returns the simulated value, or the formula's if nothing was simulated.
std::optional<double> estimate_of(const CellResult& cell, Metric metric);
/// Returns every name that any cell has under "measured", in order of first use.
std::vector<std::string> measured_names(const std::vector<CellResult>& cells);
/// Returns the cell's text under a name in "measured"; empty if there is none.
std::string measured_text(const CellResult& cell, const std::string& name);

}  // namespace speclab

// Tables of metrics: what is printed, computed and simulated, and the verdict.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "experiments/base/page/table.hpp"
#include "experiments/run/result.hpp"

namespace speclab {

/// One row per cell: what was set, then printed, formula and simulated value of each metric, then the
/// verdict. At most `max_rows` rows, with a note when there are more.
Table result_table(const Result& result, const std::string& id, std::size_t max_rows);

/// For a result of one cell: one row per metric.
Table metric_table(const Result& result, const std::string& id);

/// Acceptance by position of one cell, beside alpha^i.
Table position_table(const CellResult& cell, const std::string& id);

/// "reproduces; formula in 6 of 6": the printed values, by metric where they differ, then the
/// formula, then the experiment's remark.
Cell verdict_cell(const Result& result, const CellResult& cell);

/// "± is the 95% interval", whether all hold together, and why some are not known.
std::string interval_note(const Result& result);
/// What "± ?" means.
std::string unknown_error_note();

/// The metrics of the result's tables: the config's, or the experiment's.
std::vector<Metric> shown_metrics(const Result& result);

/// The simulated number of a metric, marked where it stands for a proof; empty without one.
Cell simulated_cell(const CellResult& cell, Metric metric);
/// "formula in 6 of 6" intervals.
std::string agreement_text(const Agreement& agreement);
/// What was simulated, or else what the formula gives.
std::optional<double> estimate_of(const CellResult& cell, Metric metric);
/// Every name that "measured" of some cell has, in the order of first use.
std::vector<std::string> measured_names(const std::vector<CellResult>& cells);
/// What "measured" of the cell has under a name; empty without it.
std::string measured_text(const CellResult& cell, const std::string& name);

}  // namespace speclab

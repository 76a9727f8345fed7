// From results to tables, figures and CSV. Everything here is drawn from result.json (and timings.json)
// alone.
#pragma once

#include <string>
#include <vector>

#include "experiments/format/shape.hpp"
#include "experiments/report/page.hpp"

namespace speclab {

/// One row a cell: what was set, then printed, formula and simulated value of each metric, then the verdict.
/// At most `most_rows` rows, with a note when there are more.
Table result_table(const Json& result, const std::string& id, std::size_t most_rows);

/// For a result of one cell: one row a metric.
Table metric_table(const Json& result, const std::string& id);

/// Acceptance by position of one cell, beside alpha^i.
Table position_table(const Json& cell, const std::string& id);

/// The figures the config asks for; for a sweep without any, curves or a heat map over its axes.
std::vector<Figure> result_figures(const Json& result, const std::string& id, const std::string& command);

/// A section of the report: introduction, table, figures, passages.
Section result_section(const Json& result, const Json& timings, const std::string& id,
                       const std::string& command);

/// One row a cell (a schedule, of schedules; a policy, of comparisons), every number in full.
std::string result_csv(const Json& result);

/// How many simulated intervals of a cell, or of all cells of a result, hold the formula.
struct Agreement {
  std::size_t held = 0;
  std::size_t judged = 0;
};
Agreement cell_agreement(const Json& cell);
Agreement result_agreement(const Json& result);

/// Rows "what / paper / formula / simulated ± interval / verdict", for one result.
std::vector<std::vector<Cell>> summary_rows(const Json& result, const std::string& name);
Table summary_table(std::vector<std::vector<Cell>> rows);

/// What "±" means in this result.
std::string interval_note(const Json& result);

/// A number for people: four significant digits.
std::string number_text(double value);

/// "1.963 ± 0.002".
std::string interval_text(const Json& interval);

/// Both as cells that sort by their value; empty for JSON that is no number, or no interval.
Cell number_cell(double value);
Cell number_cell(const Json& value);
Cell interval_cell(const Json& interval);

/// "label: what", or `what` without a label.
std::string titled(const std::string& what, const std::string& label);

}  // namespace speclab

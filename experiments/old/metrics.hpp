// The numbers a cell is described by: their names, their closed forms, and how a printed one is judged.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace speclab {

struct Metric {
  const char* name;   ///< as in configs and results
  const char* label;  ///< as in tables and on axes
};

/// Every metric, in the order of tables.
const std::vector<Metric>& metrics();

/// The label of a metric, or the name itself.
std::string metric_label(std::string_view name);

/// Inputs of the closed forms.
struct FormulaInputs {
  double alpha = 0;
  int gamma = 0;
  double c = 0;
  double c_hat = 0;
};

/// Closed forms by metric name; metrics without a finite value are left out.
std::vector<std::pair<std::string, double>> formulas(const FormulaInputs& inputs);

/// The formula of one metric; NaN when it has none.
double formula(const FormulaInputs& inputs, std::string_view metric);

/// How a printed number (a string, so that its digits count) relates to the formula.
enum class Reproduction { reproduces, within_input_rounding, does_not_reproduce };

/// `reproduces`: the formula rounds to the printed digits. `within_input_rounding`: it does for some alpha
/// and c that round to the printed inputs (corners of the box; the formulas are monotone in each).
Reproduction judge_printed(const FormulaInputs& inputs, std::string_view metric, const std::string& printed,
                           double alpha_rounding, double c_rounding);

const char* words(Reproduction verdict);

}  // namespace speclab

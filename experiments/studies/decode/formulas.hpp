// Computes the closed forms of metrics under independent acceptances, and compares printed numbers with them.
#pragma once

#include <string>

#include "experiments/config/experiment.hpp"
#include "experiments/run/result.hpp"

namespace speclab {

struct InputRounding;

/// The inputs of the closed forms.
struct FormulaInputs {
  double alpha = 0;
  int gamma = 0;
  CostRatios cost;
};

/// Returns the closed forms, without metrics that have no finite value.
ByMetric<double> formulas(const FormulaInputs& inputs);

/// Returns one metric's closed form; NaN if it has none.
double formula(const FormulaInputs& inputs, Metric metric);

/// Compares a printed number with the formula. `reproduces`: the formula rounds to the digits of `printed`.
/// `within_input_rounding`: it does so for some alpha and c that round to the printed inputs. The function
/// tries the corners of the box of such inputs: the formulas are monotone in each.
Reproduction judge_printed(const FormulaInputs& inputs, Metric metric, const std::string& printed,
                           const InputRounding& rounding);

/// Fills in a cell's formulas and their verdicts on its printed values. A measured alpha is left out, since
/// it is not a formula's value.
void add_formulas(CellResult& result, const CellSpec& cell, const FormulaInputs& inputs, AlphaSource source);

}  // namespace speclab

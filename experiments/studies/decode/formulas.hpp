// The closed forms of the metrics under independent acceptances, and how printed numbers are judged by them.
#pragma once

#include <string>

#include "experiments/config/experiment.hpp"
#include "experiments/run/result.hpp"

namespace speclab {

struct InputRounding;

/// Inputs of the closed forms.
struct FormulaInputs {
  double alpha = 0;
  int gamma = 0;
  CostRatios cost;
};

/// Closed forms by metric; metrics without a finite value are left out.
ByMetric<double> formulas(const FormulaInputs& inputs);

/// The formula of one metric; NaN when it has none.
double formula(const FormulaInputs& inputs, Metric metric);

/// `reproduces`: the formula rounds to the digits of `printed`. `within_input_rounding`: it does for some
/// alpha and c that round to the printed inputs (corners of the box; the formulas are monotone in each).
Reproduction judge_printed(const FormulaInputs& inputs, Metric metric, const std::string& printed,
                           const InputRounding& rounding);

/// Fills in a cell's formulas and what they say of its printed values. A measured alpha is not a formula's
/// value of itself and is left out.
void add_formulas(CellResult& result, const CellSpec& cell, const FormulaInputs& inputs, AlphaSource source);

}  // namespace speclab

// Computes the closed forms of the metrics under independent acceptances, and judges printed numbers by them.
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

/// Returns the closed forms by metric; leaves out metrics without a finite value.
ByMetric<double> formulas(const FormulaInputs& inputs);

/// Returns the formula's value of one metric; NaN if it has none.
double formula(const FormulaInputs& inputs, Metric metric);

/// Judges a printed number. `reproduces`: the formula rounds to the digits of `printed`.
/// `within_input_rounding`: it does so for some alpha and c that round to the printed inputs (corners of the
/// box; the formulas are monotone in each).
Reproduction judge_printed(const FormulaInputs& inputs, Metric metric, const std::string& printed,
                           const InputRounding& rounding);

/// Fills in a cell's formulas and their verdicts on its printed values. If alpha was measured, it is left
/// out: it is not a value of a formula.
void add_formulas(CellResult& result, const CellSpec& cell, const FormulaInputs& inputs, AlphaSource source);

}  // namespace speclab

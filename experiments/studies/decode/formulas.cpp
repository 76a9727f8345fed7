#include "experiments/studies/decode/formulas.hpp"

#include <algorithm>
#include <limits>

#include "analysis/theory/optimal_gamma.hpp"
#include "analysis/theory/theorems.hpp"
#include "experiments/config/config.hpp"

namespace speclab {

ByMetric<double> formulas(const FormulaInputs& in) {
  using enum Metric;
  const double c = in.cost.c;
  ByMetric<double> all{{alpha_overlap, in.alpha},
                       {alpha_examined, in.alpha},
                       {tokens_per_target_step, expected_tokens(in.alpha, in.gamma)},
                       {tokens_variance, speclab::tokens_variance(in.alpha, in.gamma)},
                       {speedup, speclab::speedup(in.alpha, in.gamma, c)},
                       {operations, speclab::operations(in.alpha, in.gamma, in.cost.c_hat)},
                       {memory_accesses, speclab::memory_accesses(in.alpha, in.gamma)}};
  if (in.gamma > 0) all.emplace_back(alpha_drafted, (expected_tokens(in.alpha, in.gamma) - 1) / in.gamma);
  const OptimalGamma best = speclab::optimal_gamma(in.alpha, c);
  if (best.gamma) all.emplace_back(optimal_gamma, *best.gamma);
  if (best.gamma) all.emplace_back(best_speedup, *best.speedup);
  const auto add_bound = [&](Metric bound_metric, Metric gain, const std::optional<double>& bound) {
    if (!bound) return;
    all.emplace_back(bound_metric, *bound);
    if (best.gamma) all.emplace_back(gain, *bound / *best.speedup);
  };
  add_bound(upper_bound_drafting_free, upper_bound_gain_drafting_free, speedup_bound_drafting_free(in.alpha));
  add_bound(upper_bound_drafting_paid, upper_bound_gain_drafting_paid,
            speedup_bound_drafting_paid(in.alpha, c));
  return all;
}

double formula(const FormulaInputs& inputs, Metric metric) {
  const ByMetric<double> all = formulas(inputs);
  const double* value = find(all, metric);
  return value != nullptr ? *value : std::numeric_limits<double>::quiet_NaN();
}

Reproduction judge_printed(const FormulaInputs& inputs, Metric metric, const std::string& printed,
                           const InputRounding& rounding) {
  double least = std::numeric_limits<double>::infinity();
  double most = -least;
  for (const double alpha_side : {-1.0, 1.0}) {
    for (const double c_side : {-1.0, 1.0}) {
      FormulaInputs corner = inputs;
      corner.alpha = std::clamp(inputs.alpha + alpha_side * rounding.alpha, 0.0, 1.0);
      corner.cost.c = std::max(inputs.cost.c + c_side * rounding.c, 0.0);
      const double value = formula(corner, metric);
      least = std::min(least, value);
      most = std::max(most, value);
    }
  }
  return judged(formula(inputs, metric), least, most, printed);
}

void add_formulas(CellResult& result, const CellSpec& cell, const FormulaInputs& inputs, AlphaSource source) {
  result.formula_alpha = source;
  result.formula = formulas(inputs);
  if (source == AlphaSource::measured) {
    std::erase_if(result.formula, [](const auto& one) {
      return one.first == Metric::alpha_overlap || one.first == Metric::alpha_examined ||
             one.first == Metric::alpha_drafted;
    });
  }
  for (const auto& [name, printed] : cell.printed) {
    const Metric metric = known_metric(name);
    result.verdict.emplace_back(
        metric, judge_printed(inputs, metric, printed, cell.config.input_rounding.value_or(InputRounding{})));
  }
}

}  // namespace speclab

#include "experiments/metrics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "analysis/theory/optimal_gamma.hpp"
#include "analysis/theory/theorems.hpp"

namespace speclab {

const std::vector<Metric>& metrics() {
  static const std::vector<Metric> all{{"alpha_overlap", "α (overlap)"},
                                       {"alpha_examined", "α (examined)"},
                                       {"alpha_drafted", "accepted / drafted"},
                                       {"accepted_per_round", "accepted per target run"},
                                       {"tokens_per_round", "tokens per target run"},
                                       {"tokens_variance", "variance of tokens per run"},
                                       {"first_acceptance", "P(first kept)"},
                                       {"optimum", "optimum"},
                                       {"speed", "speed-up"},
                                       {"operations", "operations ×"},
                                       {"memory_accesses", "memory accesses ×"},
                                       {"tv_to_target", "TV to target"},
                                       {"regret", "regret"},
                                       {"target_rows", "target rows ×"},
                                       {"identical_beams", "identical beams, share"},
                                       {"optimal_gamma", "optimal γ"},
                                       {"best_speed", "speed-up at optimal γ"},
                                       {"oracle_speed_uncharged", "oracle speed-up, uncharged"},
                                       {"oracle_speed_charged", "oracle speed-up, charged"},
                                       {"oracle_gain_uncharged", "oracle / optimal γ, uncharged"},
                                       {"oracle_gain_charged", "oracle / optimal γ, charged"}};
  return all;
}

std::string metric_label(std::string_view name) {
  for (const Metric& metric : metrics()) {
    if (name == metric.name) return metric.label;
  }
  return std::string(name);
}

std::vector<std::pair<std::string, double>> formulas(const FormulaInputs& in) {
  std::vector<std::pair<std::string, double>> all{{"alpha_overlap", in.alpha},
                                                  {"alpha_examined", in.alpha},
                                                  {"tokens_per_round", expected_tokens(in.alpha, in.gamma)},
                                                  {"tokens_variance", tokens_variance(in.alpha, in.gamma)},
                                                  {"speed", speedup(in.alpha, in.gamma, in.c)},
                                                  {"operations", operations(in.alpha, in.gamma, in.c_hat)},
                                                  {"memory_accesses", memory_accesses(in.alpha, in.gamma)}};
  if (in.gamma > 0) all.emplace_back("alpha_drafted", (expected_tokens(in.alpha, in.gamma) - 1) / in.gamma);
  const OptimalGamma best = optimal_gamma(in.alpha, in.c);
  if (best.gamma) all.emplace_back("optimal_gamma", *best.gamma);
  if (best.speedup) all.emplace_back("best_speed", *best.speedup);
  const auto add_oracle = [&](const std::string& kind, const std::optional<double>& oracle) {
    if (!oracle) return;
    all.emplace_back("oracle_speed_" + kind, *oracle);
    if (best.gamma && best.speedup) all.emplace_back("oracle_gain_" + kind, *oracle / *best.speedup);
  };
  add_oracle("uncharged", speedup_bound_drafting_free(in.alpha));
  add_oracle("charged", speedup_bound_drafting_paid(in.alpha, in.c));
  return all;
}

double formula(const FormulaInputs& inputs, std::string_view metric) {
  for (const auto& [name, value] : formulas(inputs)) {
    if (name == metric) return value;
  }
  return std::numeric_limits<double>::quiet_NaN();
}

Reproduction judge_printed(const FormulaInputs& inputs, std::string_view metric, const std::string& printed,
                           double alpha_rounding, double c_rounding) {
  const auto point = printed.find('.');
  const auto digits = point == std::string::npos ? 0 : printed.size() - point - 1;
  // The slack keeps a formula value on the very edge of a rounding cell, such as 1.525, on either side of it.
  const double half_unit = 0.5 * std::pow(10.0, -static_cast<double>(digits)) * (1 + 1e-9);
  const double goal = std::stod(printed);
  if (std::abs(formula(inputs, metric) - goal) <= half_unit) return Reproduction::reproduces;

  double least = std::numeric_limits<double>::infinity();
  double most = -least;
  for (const double alpha_side : {-1.0, 1.0}) {
    for (const double c_side : {-1.0, 1.0}) {
      FormulaInputs corner = inputs;
      corner.alpha = std::clamp(inputs.alpha + alpha_side * alpha_rounding, 0.0, 1.0);
      corner.c = std::max(inputs.c + c_side * c_rounding, 0.0);
      const double value = formula(corner, metric);
      least = std::min(least, value);
      most = std::max(most, value);
    }
  }
  return least <= goal + half_unit && most >= goal - half_unit ? Reproduction::within_input_rounding
                                                               : Reproduction::does_not_reproduce;
}

const char* words(Reproduction verdict) {
  switch (verdict) {
    case Reproduction::reproduces:
      return "reproduces";
    case Reproduction::within_input_rounding:
      return "within input rounding";
    case Reproduction::does_not_reproduce:
      return "does not reproduce";
  }
  return "";
}

}  // namespace speclab

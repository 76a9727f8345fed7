// Computes the closed forms at one acceptance rate, for `speclab predict`.
#pragma once

#include <optional>
#include <string>

#include "experiments/base/format/fields.hpp"

namespace speclab {

/// The closed forms; empty where they have no finite value.
struct Prediction {
  double alpha = 0;
  std::optional<int> gamma;
  double c = 0;
  double c_hat = 0;
  std::optional<double> tokens_per_target_step, speedup, operations;
  std::optional<int> optimal_gamma;
  std::optional<double> best_speedup, operations_at_optimum;
  std::optional<double> upper_bound_drafting_free, upper_bound_drafting_paid;
  std::string reason;
  std::optional<double> speedup_limit;
};
SPECLAB_IS_DESCRIBED(Prediction);

/// Computes the closed forms at `gamma`, or at the optimal gamma. Asserts alpha in [0, 1], c and c_hat >= 0,
/// gamma >= 0.
Prediction predict(double alpha, double c, double c_hat, const std::optional<int>& gamma);

/// Returns one line per number.
std::string prediction_text(const Prediction& prediction);

}  // namespace speclab

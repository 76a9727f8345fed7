#include "experiments/studies/decode/prediction.hpp"

#include <fmt/format.h>

#include "analysis/theory/optimal_gamma.hpp"
#include "analysis/theory/theorems.hpp"
#include "experiments/base/format/result_fields.hpp"

namespace speclab {

SPECLAB_RESULT(Prediction, "prediction", alpha, gamma, c, c_hat, tokens_per_target_step, speedup, operations,
               optimal_gamma, best_speedup, operations_at_optimum, upper_bound_drafting_free,
               upper_bound_drafting_paid, reason, speedup_limit);

Prediction predict(double alpha, double c, double c_hat, const std::optional<int>& asked) {
  const OptimalGamma best = optimal_gamma(alpha, c);
  Prediction out;
  out.alpha = alpha;
  out.gamma = asked ? asked : best.gamma;
  out.c = c;
  out.c_hat = c_hat;
  out.optimal_gamma = best.gamma;
  out.upper_bound_drafting_free = speedup_bound_drafting_free(alpha);
  out.upper_bound_drafting_paid = speedup_bound_drafting_paid(alpha, c);
  out.reason = best.reason;
  if (out.gamma) {
    out.tokens_per_target_step = expected_tokens(alpha, *out.gamma);
    out.speedup = speedup(alpha, *out.gamma, c);
    out.operations = operations(alpha, *out.gamma, c_hat);
  }
  if (best.gamma) {
    out.best_speedup = best.speedup;
    out.operations_at_optimum = operations(alpha, *best.gamma, c_hat);
  } else {
    out.speedup_limit = best.speedup;
  }
  return out;
}

std::string prediction_text(const Prediction& out) {
  // Inputs are printed with all digits: near α = 1 these decide all numbers below.
  std::string text;
  const auto asked = [&text](const char* label, const auto& value) {
    text += fmt::format("{:<40}{}\n", label, value);
  };
  const auto line = [&asked](const char* label, const std::optional<double>& value) {
    asked(label, value ? fmt::format("{:.6g}", *value) : "–");
  };
  asked("α", out.alpha);
  line("γ", out.gamma);
  asked("c", out.c);
  asked("ĉ (c for arithmetic)", out.c_hat);
  line("tokens per target step (Eq. 1)", out.tokens_per_target_step);
  line("speedup (Thm 3.8)", out.speedup);
  line("arithmetic vs plain decoding (Thm 3.11)", out.operations);
  line("optimal γ", out.optimal_gamma);
  line("speedup at optimal γ", out.best_speedup);
  line("arithmetic at optimal γ", out.operations_at_optimum);
  line("upper bound on speedup, drafting free", out.upper_bound_drafting_free);
  line("upper bound on speedup, drafting paid", out.upper_bound_drafting_paid);
  return text + out.reason + "\n";
}

}  // namespace speclab

#include "experiments/studies/decode/prediction.hpp"

#include <fmt/format.h>

#include "analysis/theory/optimal_gamma.hpp"
#include "analysis/theory/theorems.hpp"
#include "experiments/format/result_fields.hpp"

namespace speclab {

const Typed<Prediction>& prediction_type() {
  using P = Prediction;
  static const auto type =
      result_object<P>("prediction", {{"alpha", &P::alpha},
                                      {"gamma", &P::gamma},
                                      {"c", &P::c},
                                      {"c_hat", &P::c_hat},
                                      {"tokens_per_target_step", &P::tokens_per_target_step},
                                      {"speedup", &P::speedup},
                                      {"operations", &P::operations},
                                      {"optimal_gamma", &P::optimal_gamma},
                                      {"best_speedup", &P::best_speedup},
                                      {"operations_at_optimum", &P::best_operations},
                                      {"upper_bound_drafting_free", &P::bound_free},
                                      {"upper_bound_drafting_paid", &P::bound_paid},
                                      {"reason", &P::reason},
                                      {"speedup_limit", &P::speedup_limit}});
  return type;
}

Prediction predict(double alpha, double c, double c_hat, const std::optional<int>& asked) {
  const OptimalGamma best = optimal_gamma(alpha, c);
  Prediction out;
  out.alpha = alpha;
  out.gamma = asked ? asked : best.gamma;
  out.c = c;
  out.c_hat = c_hat;
  if (out.gamma) {
    out.tokens_per_target_step = expected_tokens(alpha, *out.gamma);
    out.speedup = speedup(alpha, *out.gamma, c);
    out.operations = operations(alpha, *out.gamma, c_hat);
  }
  out.optimal_gamma = best.gamma;
  if (best.gamma) {
    out.best_speedup = best.speedup;
    out.best_operations = operations(alpha, *best.gamma, c_hat);
  } else {
    out.speedup_limit = best.speedup;
  }
  out.bound_free = speedup_bound_drafting_free(alpha);
  out.bound_paid = speedup_bound_drafting_paid(alpha, c);
  out.reason = best.reason;
  return out;
}

std::string prediction_text(const Prediction& out) {
  std::string text;
  const auto line = [&text](const char* label, const std::optional<double>& value) {
    text += fmt::format("{:<40}{}\n", label, value ? fmt::format("{:.6g}", *value) : "–");
  };
  // What was asked, in all its digits: near α = 1 they decide everything below.
  const auto asked = [&text](const char* label, double value) {
    text += fmt::format("{:<40}{}\n", label, value);
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
  line("arithmetic at optimal γ", out.best_operations);
  line("upper bound on speedup, drafting free", out.bound_free);
  line("upper bound on speedup, drafting paid", out.bound_paid);
  return text + out.reason + "\n";
}

}  // namespace speclab

#include <fmt/format.h>

#include "analysis/theory/optimal_gamma.hpp"
#include "analysis/theory/theorems.hpp"
#include "experiments/cli/verb.hpp"
#include "experiments/config/result_fields.hpp"

namespace speclab {

namespace {

namespace po = boost::program_options;

/// Closed forms at one acceptance rate; a field is empty where there is no finite value.
struct Prediction {
  double alpha = 0;
  std::optional<int> gamma;
  double c = 0;
  double c_hat = 0;
  std::optional<double> tokens_per_target_step, speedup, operations;
  std::optional<int> optimal_gamma;
  std::optional<double> best_speedup, best_operations, bound_free, bound_paid;
  std::string reason;
  std::optional<double> speedup_limit;
};

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

void print_for_people(const Prediction& out) {
  const auto line = [](const char* label, const std::optional<double>& value) {
    fmt::print("{:<40}{}\n", label, value ? fmt::format("{:.6g}", *value) : "–");
  };
  line("α", out.alpha);
  line("γ", out.gamma);
  line("c", out.c);
  line("ĉ", out.c_hat);
  line("tokens per target step (Eq. 1)", out.tokens_per_target_step);
  line("speedup (Thm 3.8)", out.speedup);
  line("arithmetic vs plain decoding (Thm 3.11)", out.operations);
  line("optimal γ", out.optimal_gamma);
  line("speedup at optimal γ", out.best_speedup);
  line("arithmetic at optimal γ", out.best_operations);
  line("upper bound on speedup, drafting free", out.bound_free);
  line("upper bound on speedup, drafting paid", out.bound_paid);
  fmt::print("{}\n", out.reason);
}

int predict_main(const std::vector<std::string>& arguments) {
  Usage usage{
      .line = "speclab predict --alpha A [--c C] [--c-hat H] [--gamma G] [--json]",
      .about =
          R"(Closed forms of Leviathan et al. 2023, which assume independent acceptances. Without --gamma, at
the gamma that maximises Theorem 3.8. With alpha = 1 or c = 0 there is no finite optimum: the fields are
then left out (–) and "reason" says why.
)",
      .examples = R"(  speclab predict --alpha 0.8 --c 0.05
  speclab predict --alpha 0.75 --c 0.02 --gamma 7 --json
)"};
  usage.options.add_options()("alpha", po::value<double>()->required(), "acceptance rate, 0 to 1")(
      "c", po::value<double>()->default_value(0, "0"), "time of a draft run / time of a target run")(
      "c-hat", po::value<double>()->default_value(0, "0"), "the same for arithmetic operations")(
      "gamma", po::value<int>(), "drafted tokens per round (default: the optimal)")("json", "print JSON");
  const auto values = parse(usage, arguments);
  if (!values) return exit_ok;
  constexpr double largest_cost = 1000;
  constexpr int largest_gamma = 1000000;
  std::optional<int> gamma;
  if (values->count("gamma") > 0) gamma = ranged_option(*values, "gamma", 0, largest_gamma);
  const Prediction out =
      predict(ranged_option(*values, "alpha", 0.0, 1.0), ranged_option(*values, "c", 0.0, largest_cost),
              ranged_option(*values, "c-hat", 0.0, largest_cost), gamma);
  if (values->count("json") > 0) {
    print_json(out, prediction_type());
  } else {
    print_for_people(out);
  }
  return exit_ok;
}

}  // namespace

Verb predict_verb() {
  return {"predict", "closed forms for an acceptance rate: tokens, speedup, arithmetic, the optimal gamma",
          predict_main};
}

}  // namespace speclab

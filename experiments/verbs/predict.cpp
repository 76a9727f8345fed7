#include <fmt/format.h>

#include "analysis/theory/optimal_gamma.hpp"
#include "analysis/theory/theorems.hpp"
#include "experiments/format/config_error.hpp"
#include "experiments/verbs/verb.hpp"

namespace speclab {

namespace {

namespace po = boost::program_options;

double checked(const char* name, double value, double most) {
  if (!(value >= 0) || !(value <= most)) {
    throw UsageError(fmt::format("--{} {}: expected a number >= 0 and <= {}", name, value, most));
  }
  return value;
}

Json optional_json(const std::optional<double>& value) { return value ? Json(*value) : Json(); }

Json prediction(double alpha, double c, double c_hat, const std::optional<int>& asked) {
  const OptimalGamma best = optimal_gamma(alpha, c);
  const std::optional<int> gamma = asked ? asked : best.gamma;
  Json out{{"alpha", alpha}, {"gamma", gamma ? Json(*gamma) : Json()}, {"c", c}, {"c_hat", c_hat}};
  out["tokens_per_round"] = gamma ? Json(expected_tokens(alpha, *gamma)) : Json();
  out["speed"] = gamma ? Json(speedup(alpha, *gamma, c)) : Json();
  out["operations"] = gamma ? Json(operations(alpha, *gamma, c_hat)) : Json();
  out["optimal_gamma"] = best.gamma ? Json(*best.gamma) : Json();
  out["speed_at_optimum"] = best.gamma ? optional_json(best.speedup) : Json();
  out["operations_at_optimum"] = best.gamma ? Json(operations(alpha, *best.gamma, c_hat)) : Json();
  out["oracle_speed_uncharged"] = optional_json(speedup_bound_drafting_free(alpha));
  out["oracle_speed_charged"] = optional_json(speedup_bound_drafting_paid(alpha, c));
  out["reason"] = best.reason;
  if (!best.gamma) out["speed_limit"] = optional_json(best.speedup);
  return out;
}

void print_for_people(const Json& out) {
  const auto line = [&](const char* label, const char* key) {
    const Json& value = out.at(key);
    fmt::print("{:<28}{}\n", label, value.is_null() ? "–" : fmt::format("{:.6g}", value.get<double>()));
  };
  line("α", "alpha");
  line("γ", "gamma");
  line("c", "c");
  line("ĉ", "c_hat");
  line("tokens per target run", "tokens_per_round");
  line("speed-up (Thm 3.8)", "speed");
  line("operations × (Thm 3.11)", "operations");
  line("optimal γ", "optimal_gamma");
  line("speed-up at optimal γ", "speed_at_optimum");
  line("operations × at optimal γ", "operations_at_optimum");
  line("oracle speed-up, uncharged", "oracle_speed_uncharged");
  line("oracle speed-up, charged", "oracle_speed_charged");
  fmt::print("{}\n", out.at("reason").get<std::string>());
}

}  // namespace

int predict_verb(const std::vector<std::string>& arguments) {
  Usage usage{
      .line = "speclab predict --alpha A [--c C] [--c-hat H] [--gamma G] [--json]",
      .about =
          "Closed forms of Leviathan et al. 2023 under their i.i.d. assumption. Without --gamma, at the\n"
          "gamma that maximises Theorem 3.8. With alpha = 1 or c = 0 there is no finite optimum: the\n"
          "fields are then null (–) and \"reason\" says why.",
      .examples =
          "  speclab predict --alpha 0.8 --c 0.05\n"
          "  speclab predict --alpha 0.75 --c 0.02 --gamma 7 --json\n",
      .positional = ""};
  usage.options.add_options()("alpha", po::value<double>()->required(), "acceptance rate, 0 to 1")(
      "c", po::value<double>()->default_value(0, "0"), "time of a draft run / time of a target run")(
      "c-hat", po::value<double>()->default_value(0, "0"), "the same for arithmetic operations")(
      "gamma", po::value<int>(), "drafted tokens per round (default: the optimal)")("json", "print JSON");
  const auto values = parse(usage, arguments);
  if (!values) return exit_ok;
  constexpr double largest_cost = 1000;
  constexpr int largest_gamma = 1000000;
  std::optional<int> gamma;
  if (values->count("gamma") > 0) {
    gamma = static_cast<int>(checked("gamma", (*values)["gamma"].as<int>(), largest_gamma));
  }
  const Json out = prediction(checked("alpha", (*values)["alpha"].as<double>(), 1),
                              checked("c", (*values)["c"].as<double>(), largest_cost),
                              checked("c-hat", (*values)["c-hat"].as<double>(), largest_cost), gamma);
  if (values->count("json") > 0) {
    fmt::print("{}\n", out.dump(1));
  } else {
    print_for_people(out);
  }
  return exit_ok;
}

}  // namespace speclab

#include "experiments/base/command/options.hpp"
#include "experiments/base/command/print_result.hpp"
#include "experiments/base/command/verb.hpp"
#include "experiments/studies/decode/prediction.hpp"

namespace speclab {

namespace {

int predict_main(const Values& values) {
  constexpr double largest_cost = 1000;
  constexpr int largest_gamma = 1000000;
  std::optional<int> gamma;
  if (values.has("gamma")) gamma = ranged_option(values, "gamma", 0, largest_gamma);
  const Prediction out =
      predict(ranged_option(values, "alpha", 0.0, 1.0), ranged_option(values, "c", 0.0, largest_cost),
              ranged_option(values, "c-hat", 0.0, largest_cost), gamma);
  print(out, described<Prediction>(), values.has("json"), prediction_text);
  return exit_ok;
}

}  // namespace

Verb predict_verb() {
  Verb verb{
      .name = "predict",
      .sentence = "closed forms for an acceptance rate: tokens, speedup, arithmetic, the optimal gamma",
      .line = "speclab predict --alpha A [--c C] [--c-hat H] [--gamma G] [--json]",
      .about =
          R"(Evaluates the closed forms of Leviathan et al. 2023, which assume independent acceptances. Without --gamma
they are evaluated at the gamma that maximises Theorem 3.8. With alpha = 1 or c = 0 there is no finite optimum:
these values are then missing (–), and "reason" says why.
)",
      .examples = R"(  speclab predict --alpha 0.8 --c 0.05
  speclab predict --alpha 0.75 --c 0.02 --gamma 7 --json
)",
      .run = predict_main};
  verb.add_value("alpha", po::value<double>()->required(), "acceptance rate, 0 to 1");
  verb.add_value("c", po::value<double>()->default_value(0, "0"),
                 "time of a draft run / time of a target run");
  verb.add_value("c-hat", po::value<double>()->default_value(0, "0"),
                 "arithmetic operations of a draft run / of a target run");
  verb.add<int>("gamma", "drafted tokens per round (default: the optimum)");
  verb.add("json", "print JSON");
  return verb;
}

}  // namespace speclab

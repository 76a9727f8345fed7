#include <algorithm>
#include <boost/math/distributions/normal.hpp>

#include "serving/cli/plan_options.hpp"
#include "serving/cli/plan_way.hpp"

namespace speclab {

namespace {

/// Returns the acceptance for a rate with its standard error. alpha rises with the rate.
Acceptance given_acceptance(const Values& values, double rate, double standard_error, double confidence) {
  const boost::math::normal_distribution<double> normal;
  const double width =
      standard_error * boost::math::quantile(boost::math::complement(normal, (1 - confidence) / 2));
  const auto alpha = [&](double value) {
    return alpha_of_rate(values, std::clamp(value, 0.0, 1.0), "alpha");
  };
  Acceptance given{{alpha(rate), alpha(rate - width), alpha(rate + width)}, "given"};
  given.note = rate_note(values, rate);
  return given;
}

std::optional<PlanAnswer> answer_alpha(const Values& values, const Control& /*control*/) {
  const PlanSettings settings = plan_settings(values);
  const Acceptance acceptance = given_acceptance(
      values, rate_option(values), checked_number(values, "alpha-se", 0, 1), settings.confidence);
  return answer_of_drafter(values, {costs_of(values, settings.at), acceptance}, settings);
}

}  // namespace

PlanWay plan_alpha() {
  Verb verb{
      .name = "alpha",
      .sentence = "plan from an acceptance rate",
      .line = "speclab plan alpha ALPHA (--c C | COSTS) [options]",
      .about =
          R"(Plans for an acceptance rate, the share of examined tokens that the target accepts. It examines the tokens of a round
up to the first that it rejects. vLLM, llama.cpp and TensorRT-LLM print accepted / drafted tokens, which is lower: give
--of-drafted γ with such a rate. Costs come from --c, from the roofline of two models on a device (--target, --draft,
--device), or from measured times.)",
      .examples = R"(  speclab plan alpha 0.75 --c 0.02
  speclab plan alpha 0.511 --of-drafted 3 --c 0.02
  speclab plan alpha 0.75 --target llama-3.1-70b --draft llama-3.2-1b --device h100-sxm --devices 4
)",
      .positional = "alpha"};
  verb.section("Question");
  verb.add_value("alpha-se", number_or(0), "standard error of the rate");
  add_rate_option(verb);
  add_choice_options(verb);
  add_costs_and_answer(verb);
  return {verb, answer_alpha};
}

}  // namespace speclab

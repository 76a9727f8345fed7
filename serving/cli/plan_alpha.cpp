#include <fmt/format.h>

#include <algorithm>
#include <boost/math/distributions/normal.hpp>

#include "experiments/base/format/config_error.hpp"
#include "experiments/base/support/csv_reader.hpp"
#include "serving/advisor/plan_text.hpp"
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
  return answer_of_drafter(values, {costs_of(values, "", settings.at), acceptance}, settings);
}

/// Reads "name:alpha:c", where c may also be the name of a model.
Drafter drafter_of(const std::string& text, const Values& values, const PlanSettings& settings) {
  const auto first = text.find(':');
  const auto last = text.rfind(':');
  const auto rate = first == last ? std::nullopt : number_in(text.substr(first + 1, last - first - 1));
  if (!rate || first == 0 || last + 1 == text.size()) {
    throw UsageError("{}: expected name:alpha:c, such as small:0.7:0.02, or a model in place of c", text);
  }
  alpha_of_rate(values, *rate, text);
  Drafter drafter{costs_of(values, text.substr(last + 1), settings.at),
                  given_acceptance(values, *rate, 0, settings.confidence)};
  drafter.name = text.substr(0, first);
  if (drafter.draft.empty()) drafter.draft = drafter.name;
  return drafter;
}

std::optional<PlanAnswer> answer_drafters(const Values& values, const Control& /*control*/) {
  const PlanSettings settings = plan_settings(values);
  std::vector<Drafter> drafters;
  for (const std::string& text : values["drafters"].as<std::vector<std::string>>())
    drafters.push_back(drafter_of(text, values, settings));
  if (std::ranges::none_of(
          drafters, [](const Drafter& one) { return std::holds_alternative<RooflineCost>(one.costs.draft); }))
    refuse_given(values, {"draft-devices"}, "every drafter's cost is a number, and no draft model is given");
  DrafterRanking ranking = rank_drafters(drafters, settings);
  for (DrafterPlan& plan : ranking.ranking) choose_settings(values, plan.settings);
  PlanAnswer answer = answer_of(values, ranking, ranking_text, ranking_headline, ranking_figures);
  answer.unfit = ranking.ranking.front().fits_reason;
  return answer;
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
  verb.section("Costs");
  add_cost_options(verb.options);
  add_server_options(verb);
  add_answer_options(verb);
  return {verb, answer_alpha};
}

PlanWay plan_drafters() {
  Verb verb{
      .name = "drafters",
      .sentence = "compare drafters by their acceptance rates and costs, the fastest first",
      .line = "speclab plan drafters NAME:ALPHA:C... [options]",
      .about =
          R"(Compares drafters. Each has a name, an acceptance rate, and C, the time of its run over the target's. C may also be a
model; its cost then follows from --target and --device.)",
      .examples = R"(  speclab plan drafters small:0.7:0.02 large:0.8:0.11
  speclab plan drafters small:0.7:llama-3.2-1b large:0.8:llama-3.1-8b --target llama-3.1-70b --device h200 --devices 2
)",
      .positional = "drafters",
      .several_positional = true};
  verb.section("Question");
  add_rate_option(verb);
  add_choice_options(verb);
  verb.section("Costs");
  add_target_cost_options(verb.options);
  add_server_options(verb);
  add_answer_options(verb);
  return {verb, answer_drafters};
}

}  // namespace speclab

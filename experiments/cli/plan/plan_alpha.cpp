#include <fmt/format.h>

#include <algorithm>
#include <boost/math/distributions/normal.hpp>

#include "experiments/cli/plan/plan_options.hpp"
#include "experiments/cli/plan/plan_way.hpp"
#include "experiments/format/config_error.hpp"
#include "experiments/support/csv_reader.hpp"

namespace speclab {

namespace {

/// With its standard error.
Acceptance given_acceptance(double alpha, double standard_error, double confidence) {
  if (standard_error == 0) return {{alpha, alpha, alpha}, "given"};
  const boost::math::normal_distribution<double> normal;
  const double width =
      standard_error * boost::math::quantile(boost::math::complement(normal, (1 - confidence) / 2));
  return {{alpha, std::max(alpha - width, 0.0), std::min(alpha + width, 1.0)}, "given"};
}

std::optional<PlanAnswer> answer_alpha(const Values& values, const Control& /*control*/) {
  const PlanSettings settings = plan_settings(values);
  const Acceptance acceptance =
      given_acceptance(alpha_option(values), checked_number(values, "alpha-se", 0, 1), settings.confidence);
  return answer_of_drafter({costs_of(values, "", settings.at), acceptance}, settings);
}

/// "name:alpha:c", where c may be a model's name.
Drafter drafter_of(const std::string& text, const Values& values, const PlanSettings& settings) {
  const auto first = text.find(':');
  const auto last = text.rfind(':');
  const auto alpha = first == last ? std::nullopt : number_in(text.substr(first + 1, last - first - 1));
  if (!alpha || first == 0 || last + 1 == text.size()) {
    throw UsageError("{}: expected name:alpha:c, such as small:0.7:0.02, or a model in place of c", text);
  }
  Drafter drafter{costs_of(values, text.substr(last + 1), settings.at),
                  given_acceptance(checked_alpha(*alpha, text), 0, settings.confidence)};
  drafter.name = text.substr(0, first);
  if (drafter.draft.empty()) drafter.draft = drafter.name;
  return drafter;
}

std::optional<PlanAnswer> answer_drafters(const Values& values, const Control& /*control*/) {
  const PlanSettings settings = plan_settings(values);
  std::vector<Drafter> drafters;
  for (const std::string& text : values["drafters"].as<std::vector<std::string>>())
    drafters.push_back(drafter_of(text, values, settings));
  const DrafterRanking ranking = rank_drafters(drafters, settings);
  PlanAnswer answer = answer_of(ranking, ranking_text, ranking_headline, ranking_figures);
  answer.unfit = ranking.ranking.front().fits_reason;
  return answer;
}

}  // namespace

PlanWay plan_alpha() {
  Verb verb{
      .name = "alpha",
      .sentence = "from an acceptance rate",
      .line = "speclab plan alpha ALPHA (--c C | COSTS) [options]",
      .about =
          R"(Plans for an acceptance rate, 0 to 1. Costs: --c; or two models on a device by the roofline (--target,
--draft, --device); or measured times.)",
      .examples = R"(  speclab plan alpha 0.75 --c 0.02
  speclab plan alpha 0.75 --target llama-3.1-70b --draft llama-3.2-1b --device h100-sxm --devices 4
)",
      .positional = "alpha"};
  verb.options.add_options()("alpha-se", number_or(0), "standard error of alpha");
  add_cost_options(verb.options);
  add_server_options(verb);
  add_choice_options(verb);
  add_answer_options(verb);
  return {verb, answer_alpha};
}

PlanWay plan_drafters() {
  Verb verb{
      .name = "drafters",
      .sentence = "from the acceptance rates and costs of several drafters, the fastest first",
      .line = "speclab plan drafters NAME:ALPHA:C... [options]",
      .about =
          R"(Compares drafters, each with a name, an acceptance rate, and the time of its run over the target's. In place
of C may stand a model; then --target and --device say what it costs.)",
      .examples = R"(  speclab plan drafters small:0.7:0.02 large:0.8:0.11
  speclab plan drafters small:0.7:llama-3.2-1b large:0.8:llama-3.1-8b --target llama-3.1-70b --device h200 --devices 2
)",
      .positional = "drafters",
      .several_positional = true};
  add_target_cost_options(verb.options);
  add_server_options(verb);
  add_choice_options(verb);
  add_answer_options(verb);
  return {verb, answer_drafters};
}

}  // namespace speclab

#include "experiments/base/command/options.hpp"
#include "experiments/base/format/config_error.hpp"
#include "experiments/base/support/machine.hpp"
#include "experiments/config/load_config.hpp"
#include "serving/advisor/config_plan.hpp"
#include "serving/cli/plan_options.hpp"
#include "serving/cli/plan_way.hpp"

namespace speclab {

namespace {

std::optional<PlanAnswer> answer_config(const Values& values, const Control& control) {
  const PlanSettings settings = plan_settings(values);
  const std::string& file = values.text("config");
  const ThreadLimit limit(thread_option(values));
  const auto config = load_config(file, values);
  const PairCosts costs = pair_costs(values);
  const auto found = in_file(file, [&] { return config_case(*config, settings.confidence, control); });
  if (!found) return std::nullopt;
  const bool own_costs = costs.device.empty() && costs.target_times.empty();
  const DraftMethod method = costs.method.value_or(DraftMethod::draft);
  PlannedPair own{.method = method,
                  .costs = {ConstantCost{1}, ConstantCost{costs.c.value_or(found->c)}, draft_runs(method)},
                  .cost_from = costs.c ? "given" : "the config"};
  if (own_costs) refuse_unread(values, own.costs);
  name_target(values, own);
  PlanAnswer answer = answer_of_drafter(
      values, {own_costs ? own : costs_of(values, "", settings.at), found->acceptance}, settings);
  answer.input = file;
  return answer;
}

}  // namespace

PlanWay plan_config() {
  Verb verb{
      .name = "config",
      .sentence = "plan from the models of a config",
      .line = "speclab plan config CONFIG.json [options]",
      .about =
          R"(Plans for a config's models. alpha is computed exactly if possible, otherwise by a simulation. Without --c it uses the
config's own cost.)",
      .examples = R"(  speclab plan config configs/austen_words.json
)",
      .positional = "config"};
  verb.section("Question");
  add_choice_options(verb);
  verb.section("Costs");
  add_cost_options(verb.options);
  add_server_options(verb);
  verb.section("Simulation");
  add_config_options(verb);
  add_answer_options(verb);
  return {verb, answer_config};
}

}  // namespace speclab

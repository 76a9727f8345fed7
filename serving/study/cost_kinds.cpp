// The step costs of the section "serving".
#include <fmt/format.h>

#include "experiments/base/format/config_error.hpp"
#include "serving/advisor/model_config.hpp"
#include "serving/advisor/planning.hpp"
#include "serving/study/serving_kinds.hpp"

namespace speclab {

namespace {

const Typed<TokenPoint>& token_point_type() {
  using P = TokenPoint;
  static const auto type = object<P>(
      "serving token point", "Time of a step with this many tokens.",
      {required(field("tokens", &P::tokens, number(0, 1e9), "Verified positions and tokens of prompts.")),
       required(field("ms", &P::ms, number(0, 1e9), "Milliseconds."))});
  return type;
}

/// Returns the step times of linear costs. Throws ConfigError if the tokens of "by_tokens" do not increase,
/// if its last line, which continues, falls, or if a step of one sequence takes no time.
StepTime linear_time(const LinearStep& costs, const std::string& path) {
  const std::vector<TokenPoint>& curve = costs.by_tokens;
  for (std::size_t i = 1; i < curve.size(); ++i) {
    if (curve[i].tokens > curve[i - 1].tokens) continue;
    throw ConfigError(fmt::format("{}/by_tokens/{}/tokens", path, i), "{} is not above {}, the one before",
                      curve[i].tokens, curve[i - 1].tokens);
  }
  if (const std::size_t n = curve.size(); n > 1 && curve[n - 1].ms < curve[n - 2].ms) {
    throw ConfigError(
        fmt::format("{}/by_tokens/{}/ms", path, n - 1),
        "{} is below {}, the one before, and larger steps continue this line: leave the point out, or measure both again",
        curve[n - 1].ms, curve[n - 2].ms);
  }
  StepWork one;
  one.decoding = one.verified = 1;
  if (step_time(costs)(one) > 0) return step_time(costs);
  throw ConfigError(path,
                    "a step of one sequence takes no time: give \"step\", \"sequence\" or \"position\"");
}

StepCostKind linear_steps() {
  using C = LinearStep;
  const auto ms = number(0, 1e9);
  return kind_entry<StepCostKind, C>(
      "steps", "Sum of milliseconds for the parts of a step.",
      {field("step", &C::step, ms, "Of a step."),
       field("sequence", &C::sequence, ms, "Milliseconds for each decoding sequence."),
       field("position", &C::position, ms,
             "Milliseconds for each verified position; a decoding sequence has gamma + 1."),
       field("prompt_token", &C::prompt_token, ms, "Milliseconds for each token of a prompt."),
       field("context_token", &C::context_token, ms, "Milliseconds for each token of a cache that is read."),
       field(
           "by_tokens", &C::by_tokens, list(token_point_type(), 0, 4096),
           "Milliseconds of a step by its tokens, in increasing order. Between points the time is linear; after the last point it continues the last line."),
       field(
           "mixed", &C::mixed, ms,
           "Additional milliseconds of a step that both decodes and reads prompts, which engines run in another way."),
       field("speculation", &C::speculation, ms, "Milliseconds of a step that drafts."),
       field("idle_draft", &C::idle_draft, ms, "Milliseconds of a step that could draft and does not."),
       field("draft_run", &C::draft_run, ms, "Milliseconds for each of gamma draft runs."),
       field("draft_sequence", &C::draft_sequence, ms,
             "Milliseconds of each draft run for each decoding sequence."),
       field(
           "draft_context_token", &C::draft_context_token, ms,
           "Milliseconds of each draft run for each token of a cache that it reads; \"engine\": {\"draft_budget\": n} limits these tokens.")},
      [](const C& own, const std::string& path, std::uint32_t) { return linear_time(own, path); });
}

StepTime pair_time(const PairStepCosts& costs, const std::string& path, std::uint32_t gamma) {
  // Results contain the files that a config names, but not the shapes of models.
  for (const auto& [key, name] : {std::pair{"target", costs.target}, std::pair{"draft", costs.draft}}) {
    if (is_model_config(name))
      throw ConfigError(fmt::format("{}/{}", path, key), "{}: a config names a preset; plan load reads files",
                        name);
  }
  if (gamma > 0 && !has_draft(costs)) throw ConfigError(path + "/draft", "missing; the policy drafts tokens");
  const CostPair pair = planned_pair(costs, path, served_operation).costs;
  refuse_unservable(pair, path, served_operation.context);
  return step_time(pair, {costs.step_ms, costs.idle_draft});
}

StepCostKind pair_steps(const char* name, const char* sentence, CostForm form) {
  using C = PairStepCosts;
  auto kind = kind_entry<StepCostKind, C>(
      name, sentence,
      joined(inherited<C>(pair_costs_type(form)),
             {field("step_ms", &C::step_ms, number(0, 1e6),
                    "Milliseconds of scheduler and host in every step (assumed)."),
              field("idle_draft", &C::idle_draft, boolean(),
                    "The draft also runs once if a policy drafts nothing, to keep its cache complete.")}),
      [](const C& own, const std::string& path, std::uint32_t gamma) { return pair_time(own, path, gamma); });
  kind.of_pair = true;
  return kind;
}

}  // namespace

Family<StepCostKind>& step_cost_family() {
  static Family<StepCostKind> family("cost of a step", "Costs of a step", nullptr, [] {
    return std::vector{linear_steps(),
                       pair_steps("models", "Two models on a device, by the roofline.", CostForm::models),
                       pair_steps("times", "Measured times of both models.", CostForm::times)};
  });
  return family;
}

/// Declared by experiments/studies/all_families.cpp, which lists them.
std::vector<const FamilyBase*> serving_families();
std::vector<const FamilyBase*> serving_families() {
  return {&acceptance_family(), &step_policy_family(), &step_cost_family()};
}

}  // namespace speclab

#include <algorithm>

#include "experiments/base/command/options.hpp"
#include "experiments/base/format/config_error.hpp"
#include "serving/advisor/tree_plan.hpp"
#include "serving/cli/plan_options.hpp"
#include "serving/cli/plan_way.hpp"

namespace speclab {

namespace {

std::optional<PlanAnswer> answer_tree(const Values& values, const Control& /*control*/) {
  const PlanSettings settings = plan_settings(values);
  const std::vector<double> shares = rank_shares_of(values.text("shares"), "shares");
  TreeQuestion question{costs_of(values, settings.at), shares, settings.at, settings.memory_share};
  question.max_nodes = ranged_option<int>(values, "max-nodes", 1, 256);
  question.max_levels = ranged_option<int>(values, "max-levels", 1, 32);
  question.max_batch = settings.max_batch;
  const KnownCosts known = known_costs(question.costs);
  if (known.max_draft_tokens < 2)
    throw UsageError(
        "--draft-times: runs over one token alone are measured, but a tree's draft runs over several; measure more");
  question.max_nodes =
      static_cast<int>(std::min({double(question.max_nodes), known.max_gamma, known.max_draft_tokens}));
  if (question.max_drafted) question.max_levels = std::min(question.max_levels, *question.max_drafted);
  return answer_of(values, plan_tree(question), tree_text, tree_headline);
}

}  // namespace

PlanWay plan_tree() {
  Verb verb{
      .name = "tree",
      .sentence = "plan a draft tree from how often the draft's first, second, ... choice is accepted",
      .line = "speclab plan tree SHARE,SHARE,... (--c C | COSTS) [options]",
      .about =
          R"(Plans a tree of drafted tokens for each batch: its tokens, levels and branches. The SHAREs say how often the target's
token is the draft's first, second, ... choice. Costs are given as for plan alpha; the draft runs once per level.)",
      .examples = R"(  speclab plan tree .62,.14,.06,.03 --c 0.05
  speclab plan tree .62,.14,.06,.03 --target llama-3.1-70b --draft llama-3.2-1b --device h100-sxm --devices 4
)",
      .positional = "shares"};
  verb.section("Question");
  verb.add<int>("max-nodes", 64, "largest number of drafted tokens");
  verb.add<int>("max-levels", 8, "largest number of levels, and the longest chain");
  verb.add_value("max-batch", number_or(256), "largest batch considered");
  verb.section("Costs");
  add_cost_options(verb.options);
  add_server_options(verb);
  add_answer_options(verb, false);
  return {verb, answer_tree};
}

}  // namespace speclab

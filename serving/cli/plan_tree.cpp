#include <algorithm>

#include "experiments/base/command/options.hpp"
#include "experiments/base/format/config_error.hpp"
#include "serving/advisor/tree_plan.hpp"
#include "serving/cli/plan_options.hpp"
#include "serving/cli/plan_way.hpp"

namespace speclab {

namespace {

namespace po = boost::program_options;

std::optional<PlanAnswer> answer_tree(const Values& values, const Control& /*control*/) {
  const PlanSettings settings = plan_settings(values);
  const std::vector<double> shares = rank_shares_of(values.text("shares"), "shares");
  TreeQuestion question{costs_of(values, "", settings.at), shares, settings.at, settings.memory_share};
  question.max_nodes = ranged_option<int>(values, "max-nodes", 1, 256);
  question.max_levels = ranged_option<int>(values, "max-levels", 1, 32);
  question.max_batch = settings.max_batch;
  if (question.most_drafted) question.max_levels = std::min(question.max_levels, *question.most_drafted);
  return answer_of(plan_tree(question), tree_text, tree_headline, tree_figures);
}

}  // namespace

PlanWay plan_tree() {
  Verb verb{
      .name = "tree",
      .sentence = "a draft tree, from how often the draft's first, second, ... choice is accepted",
      .line = "speclab plan tree SHARE,SHARE,... (--c C | COSTS) [options]",
      .about =
          R"(Plans a tree of drafted tokens: how many, in how many levels, with how many branches, by batch. SHAREs say how often
the target's token is the draft's first, second, ... choice. Costs as of plan alpha; the draft runs once a level.)",
      .examples = R"(  speclab plan tree .62,.14,.06,.03 --c 0.05
  speclab plan tree .62,.14,.06,.03 --target llama-3.1-70b --draft llama-3.2-1b --device h100-sxm --devices 4
)",
      .positional = "shares"};
  verb.options.add_options()("max-nodes", po::value<int>()->default_value(64), "most drafted tokens")(
      "max-levels", po::value<int>()->default_value(8), "most levels; also the longest chain");
  add_cost_options(verb.options);
  add_server_options(verb);
  verb.options.add_options()("max-batch", number_or(256), "largest batch considered");
  add_answer_options(verb);
  return {verb, answer_tree};
}

}  // namespace speclab

#include "core/rules/tree.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>

#include "analysis/theory/optimal_tree.hpp"
#include "core/random/philox.hpp"
#include "core/rules/grown_tree.hpp"
#include "experiments/base/format/config_error.hpp"
#include "experiments/catalog/rules/rule_entry.hpp"
#include "experiments/catalog/rules/tree_shapes.hpp"
#include "sim/rank_acceptance.hpp"

namespace speclab {

namespace {

enum class Growth { fixed, optimal, dynamic };

struct TreeParameters : Branching {
  Growth growth = Growth::fixed;
  std::int32_t nodes = 16;
  std::optional<std::vector<double>> rank_acceptance;
  std::optional<double> node_cost;
  /// Levels of the fastest tree, which `measured` finds if a node's cost is given. No key of a config.
  std::int32_t levels = std::numeric_limits<std::int32_t>::max();
};

/// Throws ConfigError for a key that trees of this growth do not read.
void refuse_unread(const TreeParameters& own, const std::string& path) {
  const auto refuse = [&](bool given, const char* key, Growth reads) {
    if (!given || own.growth == reads) return;
    throw ConfigError(fmt::format("{}/{}", path, key), "trees of this growth do not read it; leave it out");
  };
  refuse(own.branching.has_value(), "branching", Growth::fixed);
  refuse(own.rank_acceptance.has_value(), "rank_acceptance", Growth::optimal);
  refuse(own.node_cost.has_value(), "node_cost", Growth::optimal);
  if (own.nodes != TreeParameters().nodes && own.growth == Growth::fixed)
    throw ConfigError(path + "/nodes", "a static tree has the nodes of its shape; leave it out");
}

DraftTree optimal_tree_of(const TreeParameters& own, std::int32_t gamma, const std::string& path) {
  if (!own.rank_acceptance) {
    throw ConfigError(path + "/rank_acceptance",
                      "missing; an optimal tree needs the acceptance of each sibling, and there is nothing "
                      "here to measure it on");
  }
  const std::vector<double>& ranks = *own.rank_acceptance;
  if (std::accumulate(ranks.begin(), ranks.end(), 0.0) > 1 + 1e-12) {
    throw ConfigError(path + "/rank_acceptance", "[{}] sums to more than 1: only one sibling can be accepted",
                      fmt::join(ranks, ","));
  }
  return DraftTree(optimal_tree(own.nodes, std::min(gamma, own.levels), ranks).parents);
}

/// Measures acceptance by rank if the config leaves it out, and the tree's size if its cost is given, with
/// random numbers of its own.
std::shared_ptr<const void> measured(const SelectedKind& selected, const RulePilot& pilot) {
  /// Sequences of the pilot measurement. They give P within about 0.01, which changes the tree's value by
  /// less.
  constexpr std::uint32_t pilot_trials = 64;
  constexpr std::uint32_t pilot_length = 64;
  const auto& given = selected.as<TreeParameters>();
  if (given.growth != Growth::optimal || (given.rank_acceptance && !given.node_cost)) return nullptr;
  auto parameters = std::make_shared<TreeParameters>(given);
  if (!parameters->rank_acceptance) {
    SimulationSize simulation = pilot.simulation;
    simulation.seed = Philox(simulation.seed, Site{0, 0, Draw{Use::world, 3}})();
    simulation.trials = pilot_trials;
    simulation.length = pilot_length;
    const auto siblings = std::min(parameters->drafts, pilot.draft.vocab());
    parameters->rank_acceptance = measure_rank_acceptance(pilot.target, pilot.draft, siblings, simulation);
  }
  if (const auto node_cost = parameters->node_cost) {
    const TreeChoice choice =
        best_tree_size(parameters->nodes, pilot.gamma, *parameters->rank_acceptance, pilot.c,
                       [&](std::int32_t nodes) { return 1 + *node_cost * nodes; });
    parameters->nodes = static_cast<std::int32_t>(choice.tree.parents.size());
    parameters->levels = choice.depth;
  }
  return parameters;
}

std::vector<Field> tree_fields() {
  using P = TreeParameters;
  const auto growth =
      choice<Growth>({{"static", Growth::fixed}, {"optimal", Growth::optimal}, {"dynamic", Growth::dynamic}});
  return joined(
      branching_fields<P>("Children of every node (\"static\"), the most siblings (\"optimal\"), nodes "
                          "continued at each depth (\"dynamic\")."),
      {field("growth", &P::growth, growth,
             "\"static\": this shape; \"optimal\": the best shape of \"nodes\" nodes for the acceptance by "
             "rank (Sequoia); \"dynamic\": grown each round from the draft's likeliest tokens (EAGLE-2)."),
       integer_field("nodes", &P::nodes, 1, 4096, "Nodes of an optimal or dynamic tree."),
       field("rank_acceptance", &P::rank_acceptance, list(number(0, 1), 1, 64),
             "Acceptance by sibling, for an optimal tree (default: measured)."),
       field(
           "node_cost", &P::node_cost, number(0, 1000),
           "Time of one more verified node, in target runs. An optimal tree then has the fastest size up to \"nodes\". Printed speedups leave it out.")});
}

}  // namespace

RuleKind tree_rule() {
  RuleKind kind = kind_entry<RuleKind, TreeParameters>(
      "tree", "Recursive rejection on a draft tree of depth gamma, siblings without replacement. Lossless.",
      tree_fields(), [](const TreeParameters& own, const std::string& path, const RuleRequest& request) {
        refuse_unread(own, path);
        if (own.growth == Growth::dynamic) return programs_of(GrownTreeRule(own.drafts, own.nodes));
        return programs_of(TreeRule(own.growth == Growth::optimal
                                        ? optimal_tree_of(own, request.gamma(), path)
                                        : tree_of(own, request.gamma(), path)));
      });
  kind.expected_lossless = ExpectedLossless::always;
  kind.measure = measured;
  kind.note = [](const SelectedKind& selected) {
    const bool costs = selected.as<TreeParameters>().node_cost.has_value();
    return std::string(costs ? "Speedups leave out node_cost, by which the tree's size was chosen." : "");
  };
  TreeParameters dynamic;
  dynamic.growth = Growth::dynamic;
  dynamic.nodes = 4;
  kind.surveyed = {surveyed_rule("tree", TreeParameters{}), surveyed_rule("tree, dynamic", dynamic)};
  return kind;
}

}  // namespace speclab

#include "experiments/tree_choice.hpp"

#include <algorithm>
#include <vector>

#include "analysis/theory/optimal_tree.hpp"
#include "core/random/philox.hpp"
#include "sim/rank_acceptance.hpp"

namespace speclab {

namespace {

/// Contexts of the pilot: P within about 0.01, which moves the tree's value by less.
constexpr std::uint32_t pilot_trials = 64;
constexpr std::uint32_t pilot_length = 64;

}  // namespace

bool has_tree(const Json& verifier) {
  const Json& kind = verifier.at("kind");
  return kind == "tree" || kind == "traversal" || kind == "without-replacement";
}

Json with_chosen_tree(const Json& config, const Model& target, const Model& draft,
                      const SimulationSize& plan) {
  Json verifier = config.at("verifier");
  if (verifier.value("growth", "") != "optimal") return verifier;
  if (!verifier.contains("rank_acceptance")) {
    SimulationSize pilot = plan;
    pilot.seed = Philox(plan.seed, Site{0, 0, Draw{Use::world, 3}})();
    pilot.trials = pilot_trials;
    pilot.length = pilot_length;
    const auto siblings = std::min(verifier.at("drafts").get<std::int32_t>(), draft.vocab());
    verifier["rank_acceptance"] = measure_rank_acceptance(target, draft, siblings, pilot);
  }
  if (verifier.contains("node_cost")) {
    const auto ranks = verifier.at("rank_acceptance").get<std::vector<double>>();
    const auto node_cost = verifier.at("node_cost").get<double>();
    const TreeChoice choice = best_tree_size(
        verifier.at("nodes").get<std::int32_t>(), config.at("gamma").get<std::int32_t>(), ranks,
        config.at("cost").at("c").get<double>(), [&](std::int32_t nodes) { return 1 + node_cost * nodes; });
    verifier["nodes"] = choice.tree.parents.size();
  }
  return verifier;
}

}  // namespace speclab

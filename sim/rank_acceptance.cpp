#include "sim/rank_acceptance.hpp"

#include <mutex>

#include "core/rules/tree.hpp"
#include "sim/compiled_rule.hpp"
#include "sim/decode.hpp"
#include "sim/parallel.hpp"

namespace speclab {

std::vector<double> measure_rank_acceptance(const Model& target, const Model& draft, std::int32_t siblings,
                                            const SimulationSize& simulation) {
  const TreeRule rule(branching_tree({siblings}));
  const AnyRule any = rule;
  std::vector<std::uint64_t> accepted(static_cast<std::size_t>(siblings));
  std::mutex mutex;
  for_each_index(simulation.trials, [&](std::size_t index) {
    const auto trial = static_cast<std::uint32_t>(index);
    std::vector<std::uint64_t> mine(accepted.size());
    std::vector<Token> context = simulation.prompt(trial);
    RoundScratch<double> scratch;
    for (std::uint32_t round = 0; round < simulation.length; ++round) {
      SampledRandomSource random = sampled_random_source(simulation.seed, trial, round);
      DraftedTree<double> drafted(*rule.tree);
      if (!draw_tree(draft, 1, context, random, scratch, drafted)) throw_invalid_row();
      TreeView<double, Model> view(target, drafted, context, scratch);
      const TreeDecision verdict = rule.verify_tree(view, random);
      if (verdict.next < 0) throw_invalid_row();
      if (verdict.node >= 0) ++mine[static_cast<std::size_t>(verdict.node)];
      context.push_back(plain_token(any, view.target(-1), simulation.seed, trial, round));
    }
    const std::scoped_lock lock(mutex);
    for (std::size_t rank = 0; rank < accepted.size(); ++rank) accepted[rank] += mine[rank];
  });
  std::vector<double> shares;
  for (const std::uint64_t count : accepted)
    shares.push_back(static_cast<double>(count) / static_cast<double>(simulation.total()));
  return shares;
}

}  // namespace speclab

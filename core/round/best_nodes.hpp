// Which nodes of a grown draft tree to verify.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

namespace speclab {

struct KeptNodes {
  std::vector<std::int32_t> nodes;    ///< their indices in the grown tree, ascending
  std::vector<std::int32_t> parents;  ///< of the kept tree: positions in `nodes`, -1 for the context
};

/// The `most` nodes with the largest scores (the reranking of EAGLE-2, Li et al. 2024), equal scores by lower
/// index. parents[i] < i is the node before node i, -1 for the context that drafting started from. A score is
/// the product of draft probabilities along a node's path, so that it never exceeds its parent's (asserted):
/// hence a kept node's parent is kept, and the kept nodes are a tree again, the one of `most` nodes whose
/// scores, taken as chances of acceptance, promise the most accepted tokens.
template <class Real>
KeptNodes keep_best_nodes(std::span<const std::int32_t> parents, std::span<const Real> scores,
                          std::size_t most) {
  assert(parents.size() == scores.size());
  const auto place = [](std::int32_t index) { return static_cast<std::size_t>(index); };
  KeptNodes kept;
  kept.nodes.resize(parents.size());
  std::iota(kept.nodes.begin(), kept.nodes.end(), 0);
  std::sort(kept.nodes.begin(), kept.nodes.end(), [&](std::int32_t a, std::int32_t b) {
    return scores[place(a)] > scores[place(b)] || (scores[place(a)] == scores[place(b)] && a < b);
  });
  kept.nodes.resize(std::min(most, kept.nodes.size()));
  std::sort(kept.nodes.begin(), kept.nodes.end());

  std::vector<std::int32_t> position(parents.size(), -1);
  for (const std::int32_t node : kept.nodes) {
    const std::int32_t parent = parents[place(node)];
    assert(parent < node && (parent < 0 || scores[place(node)] <= scores[place(parent)]));
    position[place(node)] = static_cast<std::int32_t>(kept.parents.size());
    kept.parents.push_back(parent < 0 ? -1 : position[place(parent)]);
  }
  return kept;
}

}  // namespace speclab

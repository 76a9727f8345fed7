// Selects the nodes of a grown draft tree that the target verifies.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

namespace speclab {

struct SelectedNodes {
  std::vector<std::int32_t> nodes;    ///< their indices in the grown tree, ascending
  std::vector<std::int32_t> parents;  ///< in the selected tree: positions in `nodes`, -1 for the context
};

/// Selects the `most` nodes with the largest scores (the reranking of EAGLE-2, Li et al. 2024); ties go to
/// the lower index. parents[i] < i is the parent of node i, -1 for the context. A score is the product of
/// draft probabilities along a node's path, so it never exceeds its parent's (asserted). A selected node's
/// parent is therefore selected, and the selected nodes form a tree. If scores were acceptance probabilities,
/// no tree of `most` nodes would have a larger expected number of accepted tokens.
template <class Real>
SelectedNodes select_best_nodes(std::span<const std::int32_t> parents, std::span<const Real> scores,
                                std::size_t most) {
  assert(parents.size() == scores.size());
  const auto index_of = [](std::int32_t index) { return static_cast<std::size_t>(index); };
  SelectedNodes selected;
  selected.nodes.resize(parents.size());
  std::iota(selected.nodes.begin(), selected.nodes.end(), 0);
  std::sort(selected.nodes.begin(), selected.nodes.end(), [&](std::int32_t a, std::int32_t b) {
    return scores[index_of(a)] > scores[index_of(b)] || (scores[index_of(a)] == scores[index_of(b)] && a < b);
  });
  selected.nodes.resize(std::min(most, selected.nodes.size()));
  std::sort(selected.nodes.begin(), selected.nodes.end());

  std::vector<std::int32_t> position(parents.size(), -1);
  for (const std::int32_t node : selected.nodes) {
    const std::int32_t parent = parents[index_of(node)];
    assert(parent < node && (parent < 0 || scores[index_of(node)] <= scores[index_of(parent)]));
    position[index_of(node)] = static_cast<std::int32_t>(selected.parents.size());
    selected.parents.push_back(parent < 0 ? -1 : position[index_of(parent)]);
  }
  return selected;
}

}  // namespace speclab

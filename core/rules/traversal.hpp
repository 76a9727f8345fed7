// Traversal verification (Weng et al. 2025, "Traversal verification for speculative tree decoding"): from the
// leaves to the root, so that a path is verified as a whole before its parts. On a chain it is block
// verification.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/rules/tree.hpp"

namespace speclab {

/// The leftmost leaf v is accepted with p_v, where p = 1 at the context and p_child = min(1, p_v p(x)/q(x)).
/// A refused leaf is deleted, and its parent u takes over what it left: with Z = sum (p_u p - q)+,
///     p_u <- Z / (Z + 1 - p_u),   p <- norm((p_u p - q)+),   q <- q without x, renormalised.
/// The token after an accepted node comes from the node's row as it then is. Lossless; siblings are drawn
/// without replacement.
struct TraversalRule : StaticTree {
  using StaticTree::StaticTree;

  template <class View, class Random>
  TreeVerdict verify_tree(View& view, Random& random) const {
    using Real = typename View::Real;
    const std::size_t count = list_index(view.size());
    std::vector<Real> reach(count, Real(1));     // p of each node
    std::vector<std::size_t> refused(count, 0);  // children deleted so far
    std::vector<OwnedRow<Real>> targets(count, OwnedRow<Real>({}));
    std::vector<OwnedRow<Real>> drafts(count, OwnedRow<Real>({}));
    const auto load = [&](std::int32_t node) {
      targets[list_index(node)] = copy_of(view.target(node));
      if (!view.children(node).empty()) drafts[list_index(node)] = copy_of(view.draft(node));
    };

    std::int32_t node = -1;
    load(node);
    while (true) {
      const auto children = view.children(node);
      if (refused[list_index(node)] < children.size()) {
        const std::int32_t child = children[refused[list_index(node)]];
        const Token token = view.token(child);
        reach[list_index(child)] =
            acceptance_ratio(Real(reach[list_index(node)] * targets[list_index(node)][token]),
                             drafts[list_index(node)][token], Real(1));
        load(child);
        node = child;
        continue;
      }
      if (node < 0 || random.bernoulli(node_draw(Use::accept, node), reach[list_index(node)])) {
        const bool was_refused = !children.empty();
        const std::int32_t depth = node < 0 ? 0 : view.depth(node);
        const Draw draw = node_draw(was_refused ? Use::replace : Use::bonus, node);
        return {node, depth + (was_refused ? 1 : 0),
                categorical_or(random, draw, targets[list_index(node)].view(), view.target(node))};
      }
      const std::int32_t parent = view.parent(node);
      const Token token = view.token(node);
      Real& p = reach[list_index(parent)];
      const Real left =
          subtract_draft(targets[list_index(parent)].probabilities, drafts[list_index(parent)].view(), p);
      const Real below = left + Real(1) - p;
      p = below > Real(0) ? Real(left / below) : Real(1);
      drafts[list_index(parent)].probabilities[static_cast<std::size_t>(token)] = Real(0);
      normalise(drafts[list_index(parent)].probabilities);
      ++refused[list_index(parent)];
      node = parent;
    }
  }
};

}  // namespace speclab

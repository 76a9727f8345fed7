// Traversal verification (Weng et al. 2025, "Traversal verification for speculative tree decoding"): from the
// leaves to the root, so that a path is judged as a whole before its parts. On a chain it is block
// verification.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/rules/tree.hpp"

namespace speclab {

/// The leftmost leaf v is kept with p_v, where p = 1 at the context and p_child = min(1, p_v p(x)/q(x)). A
/// refused leaf is deleted, and its parent u takes over what it left: with Z = sum (p_u p - q)+,
///     p_u <- Z / (Z + 1 - p_u),   p <- norm((p_u p - q)+),   q <- q without x, renormalised.
/// The token after a kept node comes from the node's row as it then is. Lossless; siblings are drawn without
/// replacement.
struct TraversalRule : StaticTree {
  using StaticTree::StaticTree;

  template <class View, class Chance>
  TreeVerdict verify_tree(View& view, Chance& chance) const {
    using Real = typename View::Real;
    const std::size_t count = place_of(view.size());
    std::vector<Real> reach(count, Real(1));     // p of each node
    std::vector<std::size_t> refused(count, 0);  // children deleted so far
    std::vector<OwnedRow<Real>> targets(count, OwnedRow<Real>({}));
    std::vector<OwnedRow<Real>> drafts(count, OwnedRow<Real>({}));
    const auto load = [&](std::int32_t node) {
      targets[place_of(node)] = copy_of(view.target(node));
      if (!view.children(node).empty()) drafts[place_of(node)] = copy_of(view.draft(node));
    };

    std::int32_t node = -1;
    load(node);
    while (true) {
      const auto children = view.children(node);
      if (refused[place_of(node)] < children.size()) {
        const std::int32_t child = children[refused[place_of(node)]];
        const Token token = view.token(child);
        reach[place_of(child)] =
            acceptance_ratio(Real(reach[place_of(node)] * targets[place_of(node)][token]),
                             drafts[place_of(node)][token], Real(1));
        load(child);
        node = child;
        continue;
      }
      if (node < 0 || chance.flip(node_draw(Use::accept, node), reach[place_of(node)])) {
        const bool was_refused = !children.empty();
        const std::int32_t depth = node < 0 ? 0 : view.depth(node);
        const Draw draw = node_draw(was_refused ? Use::replace : Use::bonus, node);
        return {node, depth + (was_refused ? 1 : 0),
                pick_or(chance, draw, targets[place_of(node)].view(), view.target(node))};
      }
      const std::int32_t parent = view.parent(node);
      const Token token = view.token(node);
      Real& p = reach[place_of(parent)];
      const Real left = subtract_draft(targets[place_of(parent)].mass, drafts[place_of(parent)].view(), p);
      const Real below = left + Real(1) - p;
      p = below > Real(0) ? Real(left / below) : Real(1);
      drafts[place_of(parent)].mass[static_cast<std::size_t>(token)] = Real(0);
      normalise(drafts[place_of(parent)].mass);
      ++refused[place_of(parent)];
      node = parent;
    }
  }
};

}  // namespace speclab

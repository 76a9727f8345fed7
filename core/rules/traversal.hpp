// Traversal verification (Weng et al. 2025, "Traversal verification for speculative tree decoding") goes from
// the leaves to the root, so that a path is verified as a whole before its parts. On a chain it is block
// verification.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/rules/tree.hpp"

namespace speclab {

/// A node, and the target's and draft's rows after its refused children. A leaf has no draft row.
template <class Real>
struct TraversedSiblings : DrawnSiblings<Real> {
  Real reach;  ///< p of the node in TraversalRule

  /// Returns p_child (TraversalRule).
  Real acceptance_probability(Token token) const {
    return acceptance_ratio(Real(reach * this->target[token]), this->draft[token], Real(1));
  }
  /// Updates the state after a refused child, and returns Z.
  Real refuse(Token token) {
    const Real total = subtract_draft(this->target.probabilities, this->draft.view(), reach);
    const Real below = total + Real(1) - reach;
    reach = below > Real(0) ? Real(total / below) : Real(1);
    this->lose(token);
    return total;
  }
};

/// Walks from the leaves to the root. `siblings_of(node, reach)` returns a node's state, with the
/// functions of TraversedSiblings; `reach` is the node's p_v. The descendants of a node of reach 0 are
/// refused with it, without being read.
template <class View, class Random, class SiblingsOf>
TreeDecision traverse(View& view, Random& random, const SiblingsOf& siblings_of) {
  using Real = typename View::Real;
  struct Visited {
    std::int32_t node;
    std::size_t refused;  ///< number of refused children
    decltype(siblings_of(-1, Real(1))) siblings;
  };
  std::vector<Visited> path;
  path.push_back({-1, 0, siblings_of(-1, Real(1))});
  while (true) {
    Visited& last = path.back();
    const auto& children = view.children(last.node);
    if (last.refused < children.size() && last.siblings.reach > Real(0)) {
      const std::int32_t child = children[last.refused];
      const Real reach = last.siblings.acceptance_probability(view.token(child));
      path.push_back({child, 0, siblings_of(child, reach)});
      continue;
    }
    if (last.node < 0 || random.bernoulli(node_draw(Use::accept, last.node), last.siblings.reach)) {
      const bool was_refused = !children.empty();
      const auto depth = static_cast<std::int32_t>(path.size()) - 1;
      const Draw draw = node_draw(was_refused ? Use::replace : Use::bonus, last.node);
      return {last.node, depth + (was_refused ? 1 : 0),
              categorical_or(random, draw, last.siblings.left(), view.target(last.node))};
    }
    const Token token = view.token(last.node);
    path.pop_back();
    path.back().siblings.refuse(token);
    ++path.back().refused;
  }
}

/// Accepts the leftmost leaf v with p_v, where p = 1 at the context and p_child = min(1, p_v p(x)/q(x)). A
/// refused leaf is deleted, and its parent u is updated: with Z = sum (p_u p - q)+,
///     p_u <- Z / (Z + 1 - p_u),   p <- norm((p_u p - q)+),   q <- q without x, renormalised.
/// The token after an accepted node comes from the node's row at that time. Lossless; siblings are drawn
/// without replacement.
struct TraversalRule : StaticTree {
  using StaticTree::StaticTree;

  template <class View, class Random>
  TreeDecision verify_tree(View& view, Random& random) const {
    using Real = typename View::Real;
    return traverse(view, random, [&view](std::int32_t node, const Real& reach) {
      const bool leaf = view.children(node).empty();
      return TraversedSiblings<Real>{
          {{copy_of(view.target(node)), leaf ? OwnedRow<Real>({}) : copy_of(view.draft(node))}}, reach};
    });
  }
};

}  // namespace speclab

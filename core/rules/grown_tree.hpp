// A tree that is grown anew in each round from the draft's most likely continuations (Li et al. 2024,
// "EAGLE-2": dynamic draft trees). Its tokens are chosen, not drawn, so each is verified as if the draft gave
// it probability 1.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/rules/tree.hpp"

namespace speclab {

/// Siblings verified as if the draft gave each probability 1: a token is accepted with p(x); after a refusal
/// p loses x and is renormalised.
template <class Real>
struct ChosenSiblings {
  OwnedRow<Real> target;

  Real acceptance_probability(Token token) const { return target[token]; }
  /// Returns the probability of the other tokens.
  Real refuse(Token token) {
    const Real others = Real(1) - target[token];
    target.probabilities[static_cast<std::size_t>(token)] = Real(0);
    normalise(target.probabilities);
    return others;
  }
  BasicRow<Real> left() const { return target.view(); }
};

/// Grown by core/round/tree_round.hpp: at each depth the `branching` best nodes by path probability get their
/// `branching` best children; the `nodes` best of all are selected. Verified by recursive rejection against
/// point masses. Lossless.
struct GrownTreeRule : BonusFromTarget {
  std::int32_t branching = 4;
  std::int32_t nodes = 16;

  GrownTreeRule() = default;
  GrownTreeRule(std::int32_t children, std::int32_t size) : branching(children), nodes(size) {}

  template <class View, class Random>
  TreeDecision verify_tree(View& view, Random& random) const {
    return walk_down(view, random, [&view](std::int32_t node) {
      return ChosenSiblings<typename View::Real>{copy_of(view.target(node))};
    });
  }
};

}  // namespace speclab

// A tree that is grown anew each round from the draft's most likely continuations (Li et al. 2024, "EAGLE-2":
// dynamic draft trees). Its tokens are chosen, not drawn, so each is verified as a draft that is sure of it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "speclab/core/rules/tree.hpp"

namespace speclab {

/// Grown by core/tree_round.hpp: at each depth the `branching` best nodes by path probability get their
/// `branching` best children; of all of them the `nodes` best are kept. Verified by recursive rejection
/// against point masses: keep x with p(x), else p <- p without x, renormalised. Lossless.
struct GrownTreeRule : BonusFromTarget {
  std::int32_t branching = 4;
  std::int32_t nodes = 16;

  GrownTreeRule() = default;
  GrownTreeRule(std::int32_t children, std::int32_t size) : branching(children), nodes(size) {}

  template <class View, class Chance>
  TreeVerdict verify_tree(View& view, Chance& chance) const {
    using Real = typename View::Real;
    std::int32_t node = -1;
    for (std::int32_t depth = 0;; ++depth) {
      const auto target = view.target(node);
      const auto children = view.children(node);
      if (children.empty()) {
        return {node, depth, pick_or(chance, node_draw(Use::bonus, node), bonus(target), target)};
      }
      auto left = copy_of(target);
      std::int32_t kept = -1;
      for (const std::int32_t child : children) {
        Real& mass = left.mass[static_cast<std::size_t>(view.token(child))];
        if (chance.flip(node_draw(Use::accept, child), mass)) {
          kept = child;
          break;
        }
        mass = Real(0);
        normalise(left.mass);
      }
      if (kept < 0)
        return {node, depth + 1, pick_or(chance, node_draw(Use::replace, node), left.view(), target)};
      node = kept;
    }
  }
};

}  // namespace speclab

// Describes how a rule's tokens are drafted.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "core/rules/tree.hpp"

namespace speclab {

struct Drafting {
  std::int32_t paths = 1;                           ///< independent paths of gamma tokens
  std::shared_ptr<const DraftTree> tree = nullptr;  ///< if set: siblings without replacement, down to gamma
};

/// Returns the number of ways to draw a tree's tokens, in order, from rows of `support` tokens.
inline double drafted_trees(const DraftTree& tree, std::size_t support) {
  double ways = 1;
  for (std::int32_t node = -1; node < tree.size(); ++node) {
    // If there are fewer tokens than children, all are drawn.
    for (std::size_t i = 0; i < std::min(support, tree.children(node).size()); ++i)
      ways *= static_cast<double>(support - i);
  }
  return ways;
}

}  // namespace speclab

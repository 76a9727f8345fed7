// How a rule's tokens are drafted.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "core/rules/tree.hpp"

namespace speclab {

struct Drafting {
  std::int32_t paths = 1;                           ///< of gamma tokens, independent of one another
  std::shared_ptr<const DraftTree> tree = nullptr;  ///< instead: siblings without replacement, down to gamma
};

/// Ways to draw a tree's tokens, in order, from rows of `support` tokens.
inline double drafted_trees(const DraftTree& tree, std::size_t support) {
  double ways = 1;
  for (std::int32_t node = -1; node < tree.size(); ++node) {
    // Fewer tokens than children are all drawn.
    for (std::size_t i = 0; i < std::min(support, tree.children(node).size()); ++i)
      ways *= static_cast<double>(support - i);
  }
  return ways;
}

}  // namespace speclab

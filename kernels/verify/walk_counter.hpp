// Counts the children that core's rules for trees try and refuse; what kernels read follows from the counts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/round/tree.hpp"
#include "kernels/verify/verify_tree.hpp"

namespace speclab {

/// Counts for one request. The siblings of a rule (core/rules/tree.hpp) report to it.
class WalkCounter {
 public:
  explicit WalkCounter(const DraftTree& tree)
      : tree_(tree), tried_(static_cast<std::size_t>(tree.size()) + 1, false) {}

  /// Records that a child of the node is tried.
  void tries(std::int32_t node) {
    if (tried_[list_index(node)]) return;
    tried_[list_index(node)] = true;
    met_.tried += 1;
  }
  /// Records that the node's child with this number is refused; children are refused one after the other.
  void refuses(std::int32_t node, std::size_t number) {
    const bool returned = tried_[list_index(tree_.children(node)[number])];
    met_.refused += 1;
    if (returned) met_.returned += 1;
    if (number == 0 && !returned) met_.refusing += 1;
  }
  /// Records that the path ends at the node, and returns the outcome.
  TreeOutcome ends(std::int32_t node) {
    (tree_.children(node).empty() ? met_.leaves : met_.rejecting) += 1;
    return met_;
  }

 private:
  const DraftTree& tree_;
  std::vector<bool> tried_;
  TreeOutcome met_;
};

}  // namespace speclab

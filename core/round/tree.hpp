// The shape of a draft tree: the parent of each drafted token. Host only.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace speclab {

/// Returns the index of `node` in a list that begins with the context (node -1).
constexpr std::size_t list_index(std::int32_t node) {
  return static_cast<std::size_t>(std::int64_t{node} + 1);
}

/// A tree of drafted tokens, one per node. parents[i] < i is the parent of node i, -1 for the context;
/// siblings are drafted in the order of their numbers.
class DraftTree {
 public:
  DraftTree() = default;
  explicit DraftTree(std::vector<std::int32_t> parents)
      : parents_(std::move(parents)), children_(parents_.size() + 1) {
    for (std::size_t node = 0; node < parents_.size(); ++node) {
      assert(parents_[node] >= -1 && parents_[node] < static_cast<std::int32_t>(node));
      children_[list_index(parents_[node])].push_back(static_cast<std::int32_t>(node));
      const std::int32_t depth =
          parents_[node] < 0 ? 1 : depths_[static_cast<std::size_t>(parents_[node])] + 1;
      depths_.push_back(depth);
      depth_ = depth > depth_ ? depth : depth_;
    }
  }

  std::int32_t size() const { return static_cast<std::int32_t>(parents_.size()); }
  /// Returns the length of the longest path, in tokens.
  std::int32_t depth() const { return depth_; }
  std::int32_t depth(std::int32_t node) const { return depths_[static_cast<std::size_t>(node)]; }
  std::int32_t parent(std::int32_t node) const { return parents_[static_cast<std::size_t>(node)]; }
  /// Returns the children of a node, or of the context (-1).
  const std::vector<std::int32_t>& children(std::int32_t node) const { return children_[list_index(node)]; }
  const std::vector<std::int32_t>& parents() const { return parents_; }

 private:
  std::vector<std::int32_t> parents_;
  std::vector<std::vector<std::int32_t>> children_{1};
  std::vector<std::int32_t> depths_;
  std::int32_t depth_ = 0;
};

/// Returns a tree in which every node at depth d - 1 has branching[d - 1] children: {k, 1, 1} gives k chains
/// from the root.
inline DraftTree branching_tree(const std::vector<std::int32_t>& branching) {
  std::vector<std::int32_t> parents;
  std::vector<std::int32_t> layer{-1};
  for (const std::int32_t children : branching) {
    std::vector<std::int32_t> next;
    for (const std::int32_t parent : layer) {
      for (std::int32_t i = 0; i < children; ++i) {
        next.push_back(static_cast<std::int32_t>(parents.size()));
        parents.push_back(parent);
      }
    }
    layer = std::move(next);
  }
  return DraftTree(std::move(parents));
}

}  // namespace speclab

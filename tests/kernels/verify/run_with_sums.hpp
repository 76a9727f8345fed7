// Runs trees in the emulator with rows summed before the walk.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "kernels/verify/tree_layout.hpp"

namespace speclab {

/// A workspace for a batch of trees. Sums that are not written there make a row invalid.
class TreeRoom {
 public:
  explicit TreeRoom(const TreeBatch& tree)
      : floats_(TreeKernels::layout(tree, true).workspace_bytes / sizeof(float) + 64, NAN) {}

  /// Returns the batch with this workspace, aligned to 256 bytes.
  TreeBatch in(TreeBatch tree) {
    const auto address = (reinterpret_cast<std::uintptr_t>(floats_.data()) + 255) / 256 * 256;
    tree.workspace = reinterpret_cast<void*>(address);
    tree.workspace_bytes = (floats_.size() - 64) * sizeof(float);
    return tree;
  }

 private:
  std::vector<float> floats_;
};

inline std::uint64_t run_with_sums(const TreeBatch& tree, simt::Order order = simt::Order::forward) {
  return run_tree_emulated(TreeRoom(tree).in(tree), order);
}

}  // namespace speclab

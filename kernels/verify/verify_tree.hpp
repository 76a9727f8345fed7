// Verifies draft trees from logits: the functions that run, size and count it. speclab_kernels.h offers them
// to C.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>

#include "kernels/simt/emulator.hpp"
#include "kernels/verify/implementation.hpp"
#include "kernels/verify/tree_batch.hpp"

namespace speclab {

/// Means over requests that, with the sizes, determine the traffic of trees.
struct TreeOutcome {
  double tried = 0;     ///< nodes (and contexts) whose children were tried
  double refused = 0;   ///< children refused
  double refusing = 0;  ///< nodes whose first refused child is not one of `returned`
  /// Children that traversal refused after their own children were tried.
  double returned = 0;
  double leaves = 0;  ///< share of the requests whose path ends at a leaf
  /// Share of the requests whose path ends where all children were refused.
  double rejecting = 0;

  /// Adds one request's outcome, or the mean of several, weighted by its share.
  void add(const TreeOutcome& other, double share) {
    tried += share * other.tried;
    refused += share * other.refused;
    refusing += share * other.refusing;
    returned += share * other.returned;
    leaves += share * other.leaves;
    rejecting += share * other.rejecting;
  }
};

/// Returns the bytes of the workspace with which rows are summed before the walk; 0 if the walk of this batch
/// sums them itself (TreeKernels::sums_first). They depend on sizes, formats, the method and which optional
/// pointers are null. Throws std::invalid_argument for mistakes in these.
std::size_t tree_workspace_bytes(const TreeBatch& tree);

/// Returns the mistake that keeps a batch from being launched, as batch_error of check_batch.hpp does; here
/// `gamma` counts nodes.
std::optional<std::string> tree_error(const TreeBatch& tree);

/// Verifies a batch in host memory in the emulator. If it has a workspace, of the bytes that
/// TreeKernels::layout says, rows are summed first. Returns the bytes that threads loaded. Throws
/// std::invalid_argument with the reason for a batch that cannot be run.
std::uint64_t run_tree_emulated(const TreeBatch& tree, simt::Order order = simt::Order::forward);

/// Does the same in device memory on a GPU of compute capability 9.0 or above (in the library speclab::gpu),
/// launched on the stream. Throws std::runtime_error with call, file and line, too, when CUDA fails.
void run_tree_on_gpu(const TreeBatch& tree, CUstream_st* stream);

/// Enqueues the verification of trees on a stream, as `verify` of verify.hpp does for chains. A workspace is
/// optional. Throws std::invalid_argument for what `tree_error` finds, before anything is launched.
inline void verify_tree(TreeBatch tree, CUstream_st* stream) {
  if (const auto error = tree_error(tree)) throw std::invalid_argument(*error);
  if (tree_workspace_bytes(tree) == 0) tree.workspace = nullptr;
  if (tree.batch.requests > 0) run_tree_on_gpu(tree, stream);
}

}  // namespace speclab

// Verification of draft trees from logits: what runs, sizes and counts it. speclab_kernels.h does so for C.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>

#include "kernels/simt/emulator.hpp"
#include "kernels/verify/implementation.hpp"
#include "kernels/verify/tree_batch.hpp"

namespace speclab {

/// What the traffic of trees depends on beyond sizes: means over the requests.
struct TreeOutcome {
  double tried = 0;      ///< nodes (the context among them) whose children were tried
  double refused = 0;    ///< children refused
  double refusing = 0;   ///< nodes whose first refused child is not one of `returned`
  double returned = 0;   ///< children refused by traversal after their own children were tried
  double leaves = 0;     ///< share of the requests whose path ends at a leaf
  double rejecting = 0;  ///< share of the requests whose path ends where all children were refused

  /// Adds a request's own, or that of several, by its share in the mean.
  void add(const TreeOutcome& other, double share) {
    tried += share * other.tried;
    refused += share * other.refused;
    refusing += share * other.refusing;
    returned += share * other.returned;
    leaves += share * other.leaves;
    rejecting += share * other.rejecting;
  }
};

/// The one launch. Throws std::invalid_argument with the reason for a batch that cannot be run.
simt::Launch tree_launch(const TreeBatch& tree);

/// Bytes of logits that the algorithm has to read; it writes results alone. Throws as `tree_launch`.
Traffic tree_traffic(const TreeBatch& tree, const TreeOutcome& outcome);

/// What keeps a batch from being launched, as batch_error of check_batch.hpp: there `gamma` counts nodes.
std::optional<std::string> tree_error(const TreeBatch& tree);

/// In the emulator: batch in host memory. Returns the bytes that threads loaded. Throws as `tree_launch`.
std::uint64_t run_tree_emulated(const TreeBatch& tree, simt::Order order = simt::Order::forward);

/// On a GPU of capability 90 or above (in the library speclab::gpu): batch in device memory, launched on the
/// stream. Throws as `tree_launch`, and std::runtime_error with call, file and line when CUDA refuses.
void run_tree_on_gpu(const TreeBatch& tree, CUstream_st* stream);

/// Enqueues the verification of trees on a stream, as `verify` of verify.hpp does that of chains; no
/// workspace is needed. Throws std::invalid_argument for what `tree_error` finds, before anything is
/// launched.
inline void verify_tree(const TreeBatch& tree, CUstream_st* stream) {
  if (const auto error = tree_error(tree)) throw std::invalid_argument(*error);
  if (tree.batch.requests > 0) run_tree_on_gpu(tree, stream);
}

}  // namespace speclab

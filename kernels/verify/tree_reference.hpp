// The definition of what tree verification must decide: core's own program over rows of probabilities in
// double, one request after the other. Host only.
#pragma once

#include <vector>

#include "kernels/verify/tree_batch.hpp"
#include "kernels/verify/verify_tree.hpp"

namespace speclab {

struct TreeReferenceVerdict {
  std::vector<std::int32_t> path;  ///< the accepted nodes
  Token next = invalid_token;
  /// VerifyFlag bits, but for flag_zero_residual, which is a matter of rounding, and for those of children of
  /// a node with an invalid row, of which kernels may have tried some.
  std::uint32_t flags = 0;
  /// As of ReferenceVerdict, in units of what is left: behind refusals the distances of a node's uniforms are
  /// multiplied with the totals that residuals were divided by, and with the shares of the draft that refused
  /// siblings left, by 1 over which errors of single precision are magnified.
  double margin = 1;
  TreeOutcome met;  ///< of this request alone
};

/// The verdict of every request of a batch in host memory, by `walk_down` of core/rules/tree.hpp; outputs of
/// the batch are not touched. A request that is refused, by its number of nodes or its shape, has no path and
/// no next token.
std::vector<TreeReferenceVerdict> verify_tree_reference(const TreeBatch& tree);

}  // namespace speclab

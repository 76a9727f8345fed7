// Defines what tree verification must decide: runs core's own program over rows of probabilities in double,
// one request after the other. Host only.
#pragma once

#include <vector>

#include "kernels/verify/tree_batch.hpp"
#include "kernels/verify/verify_tree.hpp"

namespace speclab {

struct TreeReferenceDecision {
  std::vector<std::int32_t> path;  ///< the accepted nodes
  Token next = invalid_token;
  /// VerifyFlag bits, except flag_zero_residual, which rounding decides, and except flags of the children of
  /// a node with an invalid row, some of which kernels may have tried.
  std::uint32_t flags = 0;
  /// As ReferenceDecision::margin, in units of what is left: after refusals, the distances of a node's
  /// uniforms are multiplied by the totals by which residuals were divided and by the shares of the draft
  /// that refused siblings left, because errors of single precision grow by the inverse of these.
  double margin = 1;
  TreeOutcome met;  ///< outcome of this request alone
};

/// Returns the verdict of every request of a batch in host memory, by `walk_down` of core/rules/tree.hpp or
/// by traversal; does not write the batch's outputs. A request that is refused because of its number of nodes
/// or its shape has no path and no next token.
std::vector<TreeReferenceDecision> verify_tree_reference(const TreeBatch& tree);

}  // namespace speclab

// The inputs and outputs of tree verification: the rows, options and random numbers of a VerifyBatch, and the
// shape of its trees.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/verify/verify_batch.hpp"

namespace speclab {

/// How the children of a node were drafted; core/rules/tree.hpp verifies both.
enum class Siblings : std::int32_t {
  without_replacement = 0,  ///< each drawn from the draft's row without the siblings before it
  independent = 1           ///< each drawn from the draft's row as it is
};

enum class TreeMethod : std::int32_t {
  recursive_rejection = 0,  ///< from the root to the leaves; core/rules/tree.hpp
  traversal = 1             ///< from the leaves to the root; core/rules/traversal.hpp
};

/// A batch of requests, each with a tree whose nodes are up to batch.gamma drafted tokens. Node -1 is the
/// context from which drafting started; position i + 1 follows node i. Fields of `batch`:
/// - gamma: nodes, 0 to max_drafted; lengths or cumulative counts tell how many of them a request has.
/// - target [requests, nodes + 1, vocab]: row i + 1 is the target's after node i, row 0 after the context.
/// - draft [requests, draft_rows, vocab]: the children of node i were drawn from row i + 1 (or the row that
///   draft_row names); rows of leaves are not read. data null: children were chosen, not drawn (say the
///   likeliest), and each is verified as a certain draft.
/// - target_options, draft_options, mask: entries for their rows; dense arrays of the draft's options have as
///   many entries per request as there are nodes. ties, draft_vocab, draft_place: as for chains.
/// - drafted [requests, nodes]: the token of each node.
/// - uniforms [requests, nodes + 1]: an acceptance draw for each node, then the draw of the next token.
///   Addresses: the draw of node i has slot i + 1, as in core's round with a tree.
/// - accepted: length of the accepted path. tokens, counts: its tokens and the next one, padded to one
///   more than nodes. flags: of all children that were refused on the way.
/// batch.rule must be the token rule. bonus, top_k, top_p, min_p and the logarithms are not supported for
/// trees and must be null.
struct TreeBatch {
  VerifyBatch batch;
  /// [requests, nodes], or one tree for all with a request stride of 0: the parent of each node, in
  /// -1..node-1. Siblings are tried in the order of their numbers.
  View<const std::int32_t> parents;
  Siblings siblings = Siblings::without_replacement;
  std::int32_t draft_rows = 0;  ///< draft rows per request; 0: as many as nodes
  /// [requests, nodes] or null: entry i is the number, below draft_rows, of the draft's row after node i - 1.
  /// Null: i. Entries of leaves are not read.
  View<const std::int32_t> draft_row;
  TreeMethod method = TreeMethod::recursive_rejection;
  /// Out, or null: [requests, nodes] the accepted nodes, and -1 after them.
  std::int32_t* path = nullptr;
  /// Or null: memory for the sums of rows, aligned to 256 bytes. With it, one launch sums the rows after all
  /// nodes that have children before the walk begins (TreeKernels::sums_first).
  void* workspace = nullptr;
  std::size_t workspace_bytes = 0;

  SPECLAB_HD std::int32_t draft_row_count() const { return draft_rows == 0 ? batch.gamma : draft_rows; }
  SPECLAB_HD std::int32_t parent(std::int64_t request, std::int32_t node) const {
    return *parents.at(request, node, batch.gamma);
  }
  /// Returns the number of the draft's row for a position.
  SPECLAB_HD std::int32_t draft_position(std::int64_t request, std::int32_t position) const {
    if (batch.certain_drafts()) return 0;
    return draft_row == nullptr ? position : *draft_row.at(request, position, batch.gamma);
  }
  /// Returns whether a node's parent comes before it, and the row that it was drawn from is in range.
  SPECLAB_HD bool node_valid(std::int64_t request, std::int32_t node) const {
    const std::int32_t before = parent(request, node);
    if (before < -1 || before >= node) return false;
    const std::int32_t row = draft_position(request, before + 1);
    return batch.certain_drafts() || (row >= 0 && row < draft_row_count());
  }
};

/// Returns the request's uniform for the acceptance draw of node i, which has slot i + 1, or for the next
/// token. A uniform of 1 counts as the number below it, so that a certain child is accepted: SiblingResidual
/// relies on that.
SPECLAB_HD inline double tree_uniform_of(const TreeBatch& tree, std::int64_t request, Draw draw) {
  if (draw.use == Use::accept && tree.batch.uniforms != nullptr) --draw.slot;
  const double u = uniform_of(tree.batch, request, draw);
  return u < 1 ? u : 1 - 0x1p-53;
}

/// Writes a request's result; one thread calls it. `path`: the accepted nodes.
SPECLAB_HD inline void write_tree_result(const TreeBatch& tree, std::int64_t request,
                                         const std::int32_t* path, std::int32_t accepted, Token next,
                                         std::uint32_t flags) {
  const VerifyBatch& batch = tree.batch;
  batch.accepted[request] = accepted;
  batch.next[request] = next;
  if (batch.flags != nullptr) batch.flags[request] = flags;
  const std::int32_t count = accepted + (next == invalid_token ? 0 : 1);
  if (batch.counts != nullptr) batch.counts[request] = count;
  for (std::int32_t i = 0; i <= batch.gamma; ++i) {
    const std::int32_t node = i < accepted ? path[i] : -1;
    if (tree.path != nullptr && i < batch.gamma) tree.path[request * batch.gamma + i] = node;
    if (batch.tokens == nullptr) continue;
    batch.tokens[request * (batch.gamma + 1) + i] = node >= 0   ? batch.drafted_token(request, node)
                                                    : i < count ? next
                                                                : no_token;
  }
}

}  // namespace speclab

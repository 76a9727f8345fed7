// What verification of draft trees is given and what it leaves: the rows, options and random numbers of a
// VerifyBatch, with the shape of its trees.
#pragma once

#include <cstdint>

#include "kernels/verify/verify_batch.hpp"

namespace speclab {

/// How the children of a node were drafted; core/rules/tree.hpp has both.
enum class Siblings : std::int32_t {
  without_replacement = 0,  ///< each from the draft's row without the siblings before it
  independent = 1           ///< each from the draft's row as it is
};

enum class TreeMethod : std::int32_t {
  recursive_rejection = 0,  ///< from the root to the leaves; core/rules/tree.hpp
  traversal = 1             ///< from the leaves to the root; core/rules/traversal.hpp
};

/// A batch of requests, each with a tree of up to batch.gamma drafted tokens, its nodes. Node -1 is the
/// context that drafting started from; position i + 1 is what follows node i. Of `batch`:
/// - gamma: nodes, 0 to max_drafted; lengths or cumulative counts say how many of them a request has.
/// - target [requests, nodes + 1, vocab]: row i + 1 is the target's after node i, row 0 after the context.
/// - draft [requests, draft_rows, vocab]: row i + 1 (or as draft_row says) is the one that the children of
///   node i were drawn from; rows of leaves are not read. data null: children were chosen, not drawn (the
///   likeliest, say), and each is verified as a draft that was certain of it.
/// - target_options, draft_options, mask: entries of their rows; dense arrays of the draft's have as many
///   entries a request as there are nodes. ties, draft_vocab, draft_place: as for chains.
/// - drafted [requests, nodes]: the token of each node.
/// - uniforms [requests, nodes + 1]: an acceptance draw for each node, then the one that picks the next
///   token. Addresses: the draw of node i has slot i + 1, as in core's round with a tree.
/// - accepted: the length of the accepted path. tokens, counts: its tokens and the next one, padded to one
///   more than nodes. flags: of all children that were refused on the way.
/// batch.rule is the token's. bonus, top_k, top_p, min_p and the logarithms are not for trees, and null.
struct TreeBatch {
  VerifyBatch batch;
  /// [requests, nodes], or one tree for all with a request stride of 0: the node before each, in -1..node-1.
  /// Siblings are tried in the order of their numbers.
  View<const std::int32_t> parents;
  Siblings siblings = Siblings::without_replacement;
  std::int32_t draft_rows = 0;  ///< rows of the draft that a request has; 0: as many as nodes
  /// [requests, nodes] or null: the number, below draft_rows, of the draft's row after node i - 1, at i.
  /// Null: i. Entries of leaves are not read.
  View<const std::int32_t> draft_row;
  TreeMethod method = TreeMethod::recursive_rejection;
  std::int32_t* path = nullptr;  ///< out, or null: [requests, nodes] the accepted nodes, and -1 behind them

  SPECLAB_HD std::int32_t draft_row_count() const { return draft_rows == 0 ? batch.gamma : draft_rows; }
  SPECLAB_HD std::int32_t parent(std::int64_t request, std::int32_t node) const {
    return *parents.at(request, node, batch.gamma);
  }
  /// Where the draft's row of a position lies.
  SPECLAB_HD std::int32_t draft_position(std::int64_t request, std::int32_t position) const {
    if (batch.certain_drafts()) return 0;
    return draft_row == nullptr ? position : *draft_row.at(request, position, batch.gamma);
  }
  /// Whether a node's parent and the row that it was drawn from are there.
  SPECLAB_HD bool node_valid(std::int64_t request, std::int32_t node) const {
    const std::int32_t before = parent(request, node);
    if (before < -1 || before >= node) return false;
    const std::int32_t row = draft_position(request, before + 1);
    return batch.certain_drafts() || (row >= 0 && row < draft_row_count());
  }
};

/// The request's uniform for the acceptance draw of node i, which has slot i + 1, or for the next token. 1
/// counts as the number below it, so that what is certain is accepted: SiblingResidual rests on that.
SPECLAB_HD inline double tree_uniform_of(const TreeBatch& tree, std::int64_t request, Draw draw) {
  if (draw.use == Use::accept && tree.batch.uniforms != nullptr) --draw.slot;
  const double u = uniform_of(tree.batch, request, draw);
  return u < 1 ? u : 1 - 0x1p-53;
}

/// Writes a request's result; one thread. `path`: the accepted nodes.
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

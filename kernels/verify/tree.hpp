// Verifies draft trees by recursive rejection (core/rules/tree.hpp) in one launch that reads only the rows of
// the accepted path, with a cluster of blocks for each request (sm_90), as in cluster.hpp.
//
// At a node whose children are tried, the row pair is read once and kept in shared memory if it fits; a
// refusal is a pass over it (tree_block.hpp). Chosen children, each certain, need no pass between them. Bytes
// per request: (s_t + s_d) V for each node whose children are tried, and s_t V for a leaf that ends the path.
// For a tree of n nodes with rows for all of them, a program that computes softmaxes first reads and writes
// all n + 1. On a chain every bit is that of cluster.hpp.
#pragma once

#include <cstdint>

#include "kernels/verify/tree_block.hpp"

namespace speclab::tree {

/// The node of the walk. For chosen children only `siblings.left` counts, the probability that they leave of
/// the target, and `refused_probability` is what the target loses.
struct Node : TriedNode {
  std::int32_t refused;  ///< number of refused ids of the vocabulary
  std::uint32_t flags;   ///< flags of this node and those before it
  bool accepted;         ///< whether the child tried last was accepted
  bool zero_residual;    ///< whether the last refusal left nothing
};

/// Returns the acceptance probability of a chosen child, and notes what its refusal takes from the target.
/// `again`: the same token was refused before. One thread calls it.
SPECLAB_DEVICE inline double chosen_child_probability(const VerifyBatch& batch, Token token,
                                                      const TokenLogit& of_token, bool again, Node& node) {
  node.refused_probability = 0;
  if (token < 0 || token >= batch.vocab) {
    node.flags |= flag_token_out_of_range;
    return 0;
  }
  if (again) return 0;
  const double probability = exp2(log_probability_in(batch, true, token, of_token, node.target));
  node.refused_probability = probability;
  if (probability >= node.siblings.left) return probability > 0 ? 1 : 0;
  return probability / node.siblings.left;
}

/// Makes the acceptance draw of a child with the uniform u. One thread calls it.
SPECLAB_DEVICE inline void try_child(const TreeBatch& tree, Token token, const ChildLogits& logits, double u,
                                     Node& node, Token* refused) {
  const VerifyBatch& batch = tree.batch;
  bool again = false;
  for (std::int32_t r = 0; r < node.refused; ++r) again = again || refused[r] == token;
  const bool lost = again && tree.siblings == Siblings::without_replacement;
  const double probability = batch.certain_drafts()
                                 ? chosen_child_probability(batch, token, logits.target, again, node)
                                 : drawn_child_probability(tree, token, logits, lost, node, node.flags);
  node.accepted = u < probability;
  if (node.accepted || token < 0 || token >= batch.vocab) return;
  if (batch.certain_drafts()) {
    node.siblings.left -= node.refused_probability;
    node.zero_residual = node.siblings.left <= 0;
    if (node.zero_residual) node.flags |= flag_zero_residual;
  }
  if (!again) refused[node.refused++] = token;
}

/// Walks down a tree. With rows of floats, the rows kept in shared memory leave no room for a second block on
/// a multiprocessor.
template <class T>
struct Walk : simt::KernelOf<tree::Args, tile_threads, sizeof(T) == 4 ? 1 : 2> {
  static constexpr const char* name = "tree walk";

  struct Shared {
    BlockShared<T> block;
    Token refused[max_drafted];  ///< refused at the node
    Node node;
    NextDistribution distribution;
    /// All that the acceptance draws of all nodes of the tree need, apart from sums.
    ChildLogits logits[max_drafted];
    double uniforms[max_drafted];
  };

  SPECLAB_DEVICE void operator()(const Args& args) const {
    const TreeBatch& tree = args.tree;
    auto& shared = simt::shared<Shared>();
    Node& node = shared.node;
    NextDistribution& distribution = shared.distribution;
    Block<T> block(args, shared.block);
    const int thread = simt::thread_index();
    if (!block.begins()) return;
    if (thread == 0) node.flags = 0;
    for (std::int32_t i = thread; i < block.nodes; i += tile_threads) {
      const std::int32_t position = shared.block.parents[i] + 1;
      shared.logits[i] = child_logits<T>(tree, block.request, position, shared.block.drafted[i]);
      shared.uniforms[i] =
          tree_uniform_of(tree, block.request, {Use::accept, static_cast<std::uint16_t>(i + 1)});
    }

    const bool chosen = tree.batch.certain_drafts();
    const auto rows_of = [&](const NextDistribution& of, bool without, bool of_target) {
      return block.rows_of(of, shared.refused, without ? node.refused : 0, of_target);
    };
    std::int32_t accepted = 0;
    std::int32_t position = 0;                    ///< position after the node of the walk
    bool arrived = true;                          ///< none of its children was tried yet
    std::int32_t child = block.child_of(-1, -1);  ///< the child to be tried next, or -1
    block.wait_to_walk();

    bool without_refused = false;
    bool sums_draft = false;  ///< the next pass is over the draft alone
    while (true) {
      // Children are tried until a pass over the rows is needed: after a drawn child was refused, or to draw
      // the next token.
      bool after_refusal = false;
      while (child >= 0 && !after_refusal && !sums_draft) {
        if (arrived) {
          arrived = false;
          block.arrive(position, node);
          if (thread == 0) {
            node.siblings = {};
            node.refused = 0;
            node.accepted = node.zero_residual = false;
          }
        }
        // All threads have read the result of the previous child.
        simt::sync();
        if (node.target.invalid() || node.draft.invalid()) return block.write_invalid(accepted, node.flags);
        if (thread == 0) {
          try_child(tree, shared.block.drafted[child], shared.logits[child], shared.uniforms[child], node,
                    shared.refused);
        }
        simt::sync();
        if (node.accepted) {
          if (thread == 0) shared.block.path[accepted] = child;
          ++accepted;
          position = child + 1;
          child = block.child_of(child, child);
          arrived = true;
        } else {
          child = block.child_of(position - 1, child);
          // A target with all probability on one id keeps it, whatever was refused.
          after_refusal = !chosen && node.target.top == no_token;
        }
      }
      if (!after_refusal && !sums_draft && !arrived && node.target.top != no_token)
        return block.write(accepted, node.target.top, node.flags);
      without_refused = sums_draft || (!after_refusal && !arrived && chosen && !node.zero_residual);
      if (thread == 0) {
        const double taken = arrived || chosen || sums_draft ? 0
                             : after_refusal                 ? node.siblings.taken_next()
                                                             : node.siblings.taken;
        distribution = {};
        distribution.position = position;
        if (after_refusal || taken > 0) distribution = block.residual(position, node, taken);
      }
      simt::sync();
      block.weigh(rows_of(distribution, without_refused, !sums_draft), distribution, !sums_draft);
      if (!after_refusal && !without_refused) break;
      if (thread < simt::warp_size) {
        const double total = sums_draft ? block.draft_left(position, node) : block.total_weight();
        if (thread == 0) {
          if (sums_draft) {
            node.siblings.draft_left = total;
          } else if (after_refusal) {
            const double left = total * distribution.residual_unit();
            node.zero_residual = !node.siblings.refuse(left, node.refused_probability);
          } else {
            node.zero_residual = total == 0;
          }
          if (node.zero_residual) node.flags |= flag_zero_residual;
          // A row whose sum was given holds a NaN.
          if (!(total - total == 0)) node.target.log_sum = invalid_log;
        }
      }
      simt::sync();
      if (node.target.invalid()) return block.write_invalid(accepted, node.flags);
      sums_draft = after_refusal && child >= 0 && block.draft_is_exhausted(node);
      // If nothing is left, another pass goes over what was left before.
      if (child < 0 && !node.zero_residual) break;
    }
    block.draw(rows_of(distribution, without_refused, true), distribution, arrived, accepted, node.flags);
  }
};

}  // namespace speclab::tree

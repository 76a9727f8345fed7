// Traversal verification of draft trees (core/rules/traversal.hpp) in one launch, with a cluster of blocks
// for each request (sm_90), as in tree.hpp.
//
// The walk goes from the leaves to the root. A stack holds the state of the nodes on the path: the sums of a
// node's two rows, and four numbers that describe what its refused children left
// (core/rules/sibling_residual.hpp). A node's row pair is read when its first child is tried, for p(x) and
// q(x) of its children. A refusal is a pass over the pair. The pair is in shared memory, unless the refused
// child had children, whose pair has replaced it. A leaf's row is read only if the path ends there; nothing
// after a child of reach 0 (core/rules/traversal.hpp) is read. On a chain this is block verification.
#pragma once

#include <cstdint>

#include "kernels/verify/tree_block.hpp"

namespace speclab::tree {

/// Returns whether the draft has lost a child's token because an earlier sibling had the same. All lanes of a
/// warp call it.
SPECLAB_DEVICE inline bool drawn_before(const std::int32_t* parents, const Token* drafted,
                                        std::int32_t child) {
  std::uint32_t found = 0;
  for (std::int32_t first = 0; first < child && found == 0; first += simt::warp_size) {
    const std::int32_t here = first + simt::thread_index() % simt::warp_size;
    found = simt::ballot(here < child && parents[here] == parents[child] && drafted[here] == drafted[child]);
  }
  return found != 0;
}

/// A reach below this counts as 0: its inverse would be beyond single precision's logarithms.
inline constexpr double min_reach = 0x1p-100;

template <class T>
struct Traverse : simt::KernelOf<tree::Args, tile_threads, sizeof(T) == 4 ? 1 : 2> {
  static constexpr const char* name = "tree traversal";

  struct Shared {
    BlockShared<T> block;
    /// One node per level, from the context down. The level below the walk has the reach of the child tried
    /// last.
    TriedNode levels[max_drafted + 1];
    Token refused[max_drafted];  ///< of the node where the draft is nearly exhausted
    std::int32_t refused_count;
    std::uint32_t flags;
    bool zero_residual;  ///< whether the last refusal left nothing
  };

  SPECLAB_DEVICE void operator()(const Args& args) const {
    const TreeBatch& tree = args.tree;
    auto& shared = simt::shared<Shared>();
    std::int32_t* const path = shared.block.path;
    Block<T> block(args, shared.block);
    const int thread = simt::thread_index();
    if (!block.begins()) return;
    if (thread == 0) {
      shared.flags = 0;
      shared.zero_residual = false;
      shared.levels[0].siblings = {};
    }
    block.wait_to_walk();

    std::int32_t depth = 0;
    std::int32_t node = -1;                       ///< the node of the walk, path[depth - 1]
    bool arrived = true;                          ///< none of its children was tried yet
    std::int32_t child = block.child_of(-1, -1);  ///< the child to be tried next, or -1
    NextDistribution distribution;
    bool sums_draft = false;  ///< the next pass is over the draft alone, before `child` is tried
    while (true) {
      bool accepted = false;
      if (sums_draft) {
        // The child waits.
      } else if (child >= 0 && shared.levels[depth].siblings.reach > 0) {
        TriedNode& here = shared.levels[depth];
        if (arrived) {
          arrived = false;
          block.arrive(node + 1, here);
          simt::sync();
          if (here.target.invalid() || here.draft.invalid()) return block.write_invalid(depth, shared.flags);
        }
        if (thread < simt::warp_size) {
          const bool lost = drawn_before(shared.block.parents, shared.block.drafted, child);
          if (thread == 0) {
            path[depth] = child;
            const Token token = shared.block.drafted[child];
            const ChildLogits logits = child_logits<T>(tree, block.request, node + 1, token);
            const double reach = drawn_child_probability(tree, token, logits, lost, here, shared.flags);
            shared.levels[depth + 1].siblings = SiblingResidual<double>::reached(reach);
            if (!(reach >= min_reach)) shared.levels[depth + 1].siblings.reach = 0;
          }
        }
        simt::sync();
        if (shared.levels[depth + 1].siblings.reach > 0) {
          ++depth;
          node = child;
          child = block.child_of(node, node);
          arrived = true;
          continue;
        }
      } else {
        const Draw draw{Use::accept, static_cast<std::uint16_t>(node + 1)};
        accepted =
            node < 0 || tree_uniform_of(tree, block.request, draw) < shared.levels[depth].siblings.reach;
        if (!accepted) {
          child = node;
          --depth;
          node = depth == 0 ? -1 : path[depth - 1];
          arrived = false;
        }
      }

      // Either the token after this node is to be drawn, or a child of it was refused.
      TriedNode& here = shared.levels[depth];
      const bool known = !sums_draft && !arrived && here.target.top != no_token;
      if (accepted && known) return block.write(depth, here.target.top, shared.flags);
      if (!known) {
        const double taken = sums_draft ? 0 : accepted ? here.siblings.taken : here.siblings.taken_next();
        distribution = {};
        distribution.position = node + 1;
        if (!arrived && taken > 0) distribution = block.residual(node + 1, here, taken);
        // The pass of the last refusal was over the distribution of the token, unless it left nothing.
        if (!accepted || arrived || shared.zero_residual)
          block.weigh(
              block.rows_of(distribution, shared.refused, sums_draft ? shared.refused_count : 0, !sums_draft),
              distribution, !sums_draft);
      }
      if (accepted) break;
      if (thread < simt::warp_size) {
        double total = known        ? 0
                       : sums_draft ? block.draft_left(node + 1, here)
                                    : block.total_weight() * distribution.residual_unit();
        if (thread == 0) {
          // This reads what the refusal below writes.
          if (known) total = block.left_of_top(node + 1, here);
          if (sums_draft) {
            here.siblings.draft_left = total;
          } else {
            shared.zero_residual = !here.siblings.refuse(total, here.refused_probability);
            if (shared.zero_residual) shared.flags |= flag_zero_residual;
          }
          // A row whose sum was given holds a NaN.
          if (!(total - total == 0)) here.target.log_sum = invalid_log;
        }
      }
      simt::sync();
      if (here.target.invalid()) return block.write_invalid(depth, shared.flags);
      if (!sums_draft) child = block.child_of(node, child);
      sums_draft = !sums_draft && child >= 0 && block.draft_is_exhausted(here);
      if (!sums_draft) continue;
      if (thread == 0) {
        shared.refused_count = 0;
        for (std::int32_t i = node + 1; i < child; ++i) {
          if (shared.block.parents[i] == node)
            shared.refused[shared.refused_count++] = shared.block.drafted[i];
        }
      }
      simt::sync();
    }
    block.draw(block.rows_of(distribution), distribution, arrived, depth, shared.flags);
  }
};

}  // namespace speclab::tree

// Verification of draft trees in one launch that reads the rows of the accepted path alone: a cluster of
// blocks for each request (sm_90), as in cluster.hpp.
//
// At a node whose children are tried, the row pair is read once and kept in shared memory where it fits. What
// is left of the target after r refusals is (p - G_r q)+ (core/rules/sibling_residual.hpp), the residual of
// chains with a number before q: no row is rewritten, and a refusal costs one pass over the kept pair, which
// gives the total that the next child is compared with, or the sums that the next token is drawn by. Chosen
// children, each certain, need no pass between them. Bytes of a request: (s_t + s_d) V for each node whose
// children are tried, and s_t V for a leaf that ends the path; of a tree of n nodes with rows for all of them
// a program that softmaxes first reads and writes all n + 1. On a chain every bit is that of cluster.hpp.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/rules/sibling_residual.hpp"
#include "kernels/verify/fused.hpp"
#include "kernels/verify/retained_row.hpp"
#include "kernels/verify/tree_batch.hpp"

namespace speclab::tree {

struct Args {
  TreeBatch tree;
  std::int32_t tiles;
  bool keeps;  ///< whether shared memory holds a block's tiles of a row pair
};

/// A node whose children are tried, and what became of those tried so far. The same in all blocks.
struct Node {
  LogSum target;
  LogSum draft;
  SiblingResidual<double> siblings;  ///< of chosen children `left` alone: what they leave of the target
  std::int32_t refused;              ///< how many ids of the vocabulary
  double refused_probability;  ///< what the last refusal takes from the draft, or of a chosen child from the
                               ///< target
  std::uint32_t flags;         ///< of this node and those before it
  bool accepted;               ///< the child tried last
  bool zero_residual;          ///< the last refusal left nothing
};

/// The first child of `node` behind the node `after`, or -1. By all lanes of a warp.
SPECLAB_DEVICE inline std::int32_t next_child(const std::int32_t* parents, std::int32_t nodes,
                                              std::int32_t node, std::int32_t after) {
  for (std::int32_t first = after + 1; first < nodes; first += simt::warp_size) {
    const std::int32_t here = first + simt::thread_index() % simt::warp_size;
    const std::uint32_t children = simt::ballot(here < nodes && parents[here] == node);
    if (children != 0) return first + simt::lowest_bit(children);
  }
  return -1;
}

/// A row without ids that were refused.
template <class Row>
struct WithoutRefused : Row {
  const Token* refused = nullptr;
  std::int32_t count = 0;

  SPECLAB_DEVICE void complete(std::int32_t tile, HeldTile<typename Row::Logit>& mine) const {
    using Format = typename Row::Logit;
    using Tile = TileShape<Format>;
    Row::complete(tile, mine);
    for (std::int32_t r = 0; r < count; ++r) {
      if (refused[r] / tile_size != tile) continue;
      SPECLAB_UNROLL
      for (int i = 0; i < held; ++i) {
        const Token id = Tile::first(tile, i / Tile::width, simt::thread_index()) + i % Tile::width;
        if (id == refused[r]) {
          set_logit<Format>(mine.vectors[i / Tile::width], i % Tile::width, from_float<Format>(-INFINITY));
        }
      }
    }
  }
};

/// The acceptance draw of a child, by one thread.
template <class T>
SPECLAB_DEVICE void try_child(const TreeBatch& tree, std::int64_t request, std::int32_t position,
                              std::int32_t child, Node& node, Token* refused) {
  const VerifyBatch& batch = tree.batch;
  const Token token = simt::load(batch.drafted.at(request, child, batch.gamma));
  const double u = tree_uniform_of(tree, request, {Use::accept, static_cast<std::uint16_t>(child + 1)});
  node.refused_probability = 0;
  node.accepted = false;
  if (token < 0 || token >= batch.vocab) {
    node.flags |= flag_token_out_of_range;
    return;
  }
  bool again = false;
  for (std::int32_t r = 0; r < node.refused; ++r) again = again || refused[r] == token;
  const double log_target = log_probability_of<T>(batch, true, request, position, token, node.target);
  double probability = 0;
  if (batch.certain_drafts()) {
    if (!again) node.refused_probability = exp2(log_target);
    probability = node.refused_probability >= node.siblings.left
                      ? (node.refused_probability > 0 ? 1 : 0)
                      : node.refused_probability / node.siblings.left;
  } else {
    const std::int32_t draft_position = tree.draft_position(request, position);
    const double log_draft = log_probability_of<T>(batch, false, request, draft_position, token, node.draft);
    const bool lost = again && tree.siblings == Siblings::without_replacement;
    if (lost || log_draft == log_of_zero) {
      node.flags |= flag_zero_draft_probability;
    } else {
      probability = node.siblings.acceptance_probability(exp2(log_target - log_draft));
      if (tree.siblings == Siblings::without_replacement) node.refused_probability = exp2(log_draft);
    }
  }
  node.accepted = u < probability;
  if (node.accepted) return;
  if (batch.certain_drafts()) {
    node.siblings.left -= node.refused_probability;
    node.zero_residual = node.siblings.left <= 0;
    if (node.zero_residual) node.flags |= flag_zero_residual;
  }
  if (!again) refused[node.refused++] = token;
}

/// Rows of floats that are kept leave no room for a second block on a multiprocessor.
template <class T>
struct Walk : simt::KernelOf<tree::Args, tile_threads, sizeof(T) == 4 ? 1 : 2> {
  static constexpr const char* name = "tree walk";

  using Row = WithoutRefused<RetainedRow<RowOf<T>>>;

  struct Shared {
    /// Of two nodes in turn, of draft and target, so that one barrier a node is enough.
    PartialSum parts[2][2][most_tiles];
    TileWeightSum weight_sums[2][most_tiles];  ///< of two passes in turn
    PartialSumScratch partial_sum_scratch[2];
    simt::BlockScratch<std::int32_t, tile_warps> invalid_nodes;
    std::int32_t parents[most_drafted];
    std::int32_t path[most_drafted];
    Token refused[most_drafted];  ///< at the node
    Node node;
    fused::FinishScratch<T> finish;
  };

  SPECLAB_DEVICE void operator()(const Args& args) const {
    const TreeBatch& tree = args.tree;
    const VerifyBatch& batch = tree.batch;
    const int blocks = simt::cluster_size();
    const int rank = simt::cluster_rank();
    const int thread = simt::thread_index();
    const bool writes = rank == 0 && thread == 0;
    const std::int64_t request =
        static_cast<std::uint32_t>(simt::block_index()) / static_cast<std::uint32_t>(blocks);
    auto& shared = simt::shared<Shared>();
    Node& node = shared.node;
    const std::int32_t nodes = batch.length(request);
    if (nodes < 0 || nodes > batch.gamma) {
      if (writes) write_tree_result(tree, request, shared.path, 0, invalid_token, flag_length_out_of_range);
      return;
    }
    std::int32_t invalid_nodes = 0;
    for (std::int32_t i = thread; i < nodes; i += tile_threads) {
      shared.parents[i] = tree.parent(request, i);
      if (!tree.node_valid(request, i)) invalid_nodes = 1;
    }
    if (thread == 0) node.flags = 0;
    const auto either = [](std::int32_t a, std::int32_t b) { return a | b; };
    if (simt::block_reduce(invalid_nodes, shared.invalid_nodes, either) != 0) {
      if (writes) write_tree_result(tree, request, shared.path, 0, invalid_token, flag_invalid_tree);
      return;
    }

    const bool chosen = batch.certain_drafts();
    const bool target_known = batch.sum_known(true);
    const bool draft_known = batch.sum_known(false) || chosen;
    auto* const place = args.keeps ? reinterpret_cast<simt::Vector16*>(simt::dynamic_shared()) : nullptr;
    const auto tell = [&](auto& slot, const auto& value) {
      if (thread < blocks) *simt::cluster_shared(&slot, thread) = value;
    };
    std::int32_t accepted = 0;
    std::int32_t position = 0;  ///< behind the node where the walk is
    bool arrived = true;        ///< and none of its children was tried
    const auto write = [&](Token next, std::uint32_t flags) {
      write_tree_result(tree, request, shared.path, accepted, next, flags);
    };
    const auto write_invalid = [&] {
      if (writes) write(invalid_token, node.flags | flag_invalid_row);
    };
    // A row that was not summed has not been read, and so is not stored; nor is one by ids of its own.
    const auto retained = [&](const RowOf<T>& row, bool of_target) {
      constexpr int side = TileShape<T>::steps * tile_threads;
      const bool summed = of_target ? !target_known : !draft_known && batch.draft_place == nullptr;
      const bool stored = place != nullptr && summed && !arrived;
      return RetainedRow<RowOf<T>>{row, !stored ? nullptr : of_target ? place : place + side, blocks};
    };
    int node_turn = 0;
    const auto sum_rows = [&](std::int32_t at) {
      node_turn ^= 1;
      const auto sum_tile = [&](bool of_target, std::int32_t tile) {
        const auto row =
            logit_row<T>(batch, of_target, request, of_target ? at : tree.draft_position(request, at));
        const auto mine = whole_tile(row, tile);
        retained(row, of_target).keep(tile, mine);
        tell(shared.parts[of_target][node_turn][tile],
             tile_part(mine, row.scale, shared.partial_sum_scratch[of_target]));
      };
      for (std::int32_t tile = rank; tile < args.tiles; tile += blocks) {
        if (!target_known) sum_tile(true, tile);
        if (!draft_known) sum_tile(false, tile);
        simt::sync();
      }
      simt::cluster_sync();
    };
    const auto row_sum = [&](bool of_target, std::int32_t at) {
      const PartialSum* const parts = shared.parts[of_target][node_turn];
      return sum_of_row(batch, request, of_target, at, args.tiles,
                        [parts](std::int32_t t) { return parts[t]; });
    };
    // What is left of the target when `taken` of the draft is subtracted.
    const auto residual_at = [&](std::int32_t at, double taken) {
      const PositionDecision decided{node.target, node.draft, 0, 0, false, 0};
      NextDistribution residual = fused::distribution_of_rejection(batch, request, at, decided);
      residual.log_scale = static_cast<float>(log2(taken));
      return residual;
    };
    const auto rows_of = [&](NextDistribution of, bool without) {
      const auto target = target_ids_row<T>(batch, true, request, of.position);
      if (of.weighing == Weighing::residual) of.position = tree.draft_position(request, of.position);
      const auto pair = row_pair<T>(batch, request, of);
      return RowPair<Row>{{retained(target, true), shared.refused, without ? node.refused : 0},
                          {retained(pair.draft, false), nullptr, 0},
                          pair.draft_sum_given};
    };
    int pass_turn = 0;
    const auto weight_sum = [&](std::int32_t t) { return shared.weight_sums[pass_turn][t]; };
    const auto weigh = [&](const NextDistribution& of, bool without) {
      const auto rows = rows_of(of, without);
      pass_turn ^= 1;
      int turn = 0;
      for (std::int32_t tile = rank; tile < args.tiles; tile += blocks, turn ^= 1) {
        tell(shared.weight_sums[pass_turn][tile],
             tile_weight_sum(rows, of, tile, shared.finish.weights[turn]));
      }
      simt::cluster_sync();
    };
    // Of the last pass, by one warp.
    const auto total_weight = [&] {
      double own = 0;
      for (std::int32_t t = thread; t < args.tiles; t += simt::warp_size) own += weight_sum(t).sum;
      return simt::warp_sum(own);
    };
    std::int32_t child = next_child(shared.parents, nodes, -1, -1);  ///< to be tried next, or -1
    // Nobody writes to a block that has not started.
    simt::cluster_sync();

    NextDistribution distribution;
    bool without_refused = false;
    while (true) {
      // Children are tried until a pass over the rows is needed: after a drawn child was refused, or to draw
      // the next token.
      bool after_refusal = false;
      while (child >= 0 && !after_refusal) {
        if (arrived) {
          arrived = false;
          if (!target_known || !draft_known) sum_rows(position);
          simt::sync();
          if (thread < simt::warp_size) {
            const LogSum target = row_sum(true, position);
            const LogSum draft =
                chosen ? LogSum{0, no_token, 0} : row_sum(false, tree.draft_position(request, position));
            if (thread == 0) node = {target, draft, {}, 0, 0, node.flags, false, false};
          }
        }
        // Everybody has seen what became of the child before.
        simt::sync();
        if (node.target.invalid() || node.draft.invalid()) return write_invalid();
        if (thread == 0) try_child<T>(tree, request, position, child, node, shared.refused);
        simt::sync();
        if (node.accepted) {
          if (thread == 0) shared.path[accepted] = child;
          ++accepted;
          position = child + 1;
          child = next_child(shared.parents, nodes, child, child);
          arrived = true;
        } else {
          child = next_child(shared.parents, nodes, position - 1, child);
          // A target with one id leaves that id, whatever was refused.
          after_refusal = !chosen && node.target.top == no_token;
        }
      }
      if (after_refusal) {
        distribution = residual_at(position, node.siblings.taken_next());
      } else {
        if (!arrived && node.target.top != no_token) {
          if (writes) write(node.target.top, node.flags);
          return;
        }
        without_refused = !arrived && chosen && !node.zero_residual;
        distribution = {};
        distribution.position = position;
        if (!arrived && !chosen && node.siblings.taken > 0) {
          distribution = residual_at(position, node.siblings.taken);
        }
      }
      weigh(distribution, without_refused);
      if (!after_refusal && !without_refused) break;
      if (thread < simt::warp_size) {
        const double total = total_weight();
        if (thread == 0) {
          if (after_refusal) {
            const double left = total * distribution.residual_unit();
            node.zero_residual = !node.siblings.refuse(left, node.refused_probability);
          } else {
            node.zero_residual = total == 0;
          }
          if (node.zero_residual) node.flags |= flag_zero_residual;
          // A NaN in a row whose sum was given.
          if (!(total - total == 0)) node.target.log_sum = invalid_log;
        }
      }
      simt::sync();
      if (node.target.invalid()) return write_invalid();
      // With nothing left there is another pass, over what was left before.
      if (child < 0 && !node.zero_residual) break;
    }

    const bool bonus = arrived;
    if (bonus && row_scale(batch, true, request, position).lowest()) {
      if (rank != 0 || thread >= simt::warp_size) return;
      const LogSum sum = merge_tops(args.tiles, [&](std::int32_t t) {
        const TileWeightSum tile = weight_sum(t);
        return PartialSum{tile.reference, static_cast<float>(tile.sum)};
      });
      if (sum.top == no_token) return write_invalid();
      if (writes) write(sum.top, node.flags);
      return;
    }
    const TileChoice& choice = shared.finish.choice;
    if (thread < simt::warp_size) {
      choose_tile(batch, request, args.tiles, distribution, bonus, weight_sum, shared.finish.choice);
    }
    simt::sync();
    if (choice.invalid || choice.zero_residual) return write_invalid();
    if (choice.tile % blocks != rank) return;
    const auto weights =
        tile_weights(rows_of(distribution, without_refused), distribution, choice.tile, choice.reference);
    draw_in_tile<T>(weights, choice.tile, choice.goal, shared.finish.draw,
                    [&](Token next) { write(next, node.flags); });
  }
};

}  // namespace speclab::tree

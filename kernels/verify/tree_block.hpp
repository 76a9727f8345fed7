// The work of a cluster's block for a request with a tree, under either rule: loading the shape, summing row
// pairs, passing over them, and drawing the next token.
//
// The row pair that was read last stays in shared memory if it fits. After refusals, (p - G q)+ is left of
// the target (core/rules/sibling_residual.hpp): the residual of chains with a factor on q. So no row is
// rewritten, and a refusal costs one pass over the pair, which gives the total that the next child is
// compared with, or the sums by which the next token is drawn.
#pragma once

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
  /// Those of fused::Args, if the launch before has summed rows. Null: the walk sums them itself.
  PartialSum* parts;
  std::int32_t target_rows;
  std::int32_t draft_rows;
};

/// A node whose children are tried, and what the refusals so far have left. It is the same in all blocks.
struct TriedNode {
  LogSum target;
  LogSum draft;
  SiblingResidual<double> siblings;
  double refused_probability;  ///< what the draft loses if the child tried last is refused
};

/// A child's token in both rows at the child's position, read before the rows are summed.
struct ChildLogits {
  TokenLogit target;
  TokenLogit draft;
};

template <class T>
SPECLAB_DEVICE ChildLogits child_logits(const TreeBatch& tree, std::int64_t request, std::int32_t position,
                                        Token token) {
  const VerifyBatch& batch = tree.batch;
  ChildLogits logits{};
  if (has_logit(batch, true, token)) logits.target = token_logit<T>(batch, true, request, position, token);
  if (has_logit(batch, false, token))
    logits.draft = token_logit<T>(batch, false, request, tree.draft_position(request, position), token);
  return logits;
}

/// Returns the acceptance probability of a drawn child (in traversal verification, its reach); notes what its
/// refusal takes from the draft, and records in `flags` the reason if it is impossible. `lost`: the draft has
/// lost the child's token. One thread calls it.
SPECLAB_DEVICE inline double drawn_child_probability(const TreeBatch& tree, Token token,
                                                     const ChildLogits& logits, bool lost, TriedNode& node,
                                                     std::uint32_t& flags) {
  const VerifyBatch& batch = tree.batch;
  node.refused_probability = 0;
  if (token < 0 || token >= batch.vocab) {
    flags |= flag_token_out_of_range;
    return 0;
  }
  const double log_target = log_probability_in(batch, true, token, logits.target, node.target);
  const double log_draft = log_probability_in(batch, false, token, logits.draft, node.draft);
  if (lost || log_draft == log_of_zero) {
    flags |= flag_zero_draft_probability;
    return 0;
  }
  if (tree.siblings == Siblings::without_replacement) node.refused_probability = exp2(log_draft);
  return node.siblings.acceptance_probability(exp2(log_target - log_draft));
}

/// A row without ids that were refused.
template <class Row>
struct WithoutRefused : Row {
  const Token* refused = nullptr;
  std::int32_t count = 0;

  SPECLAB_DEVICE void complete(std::int32_t tile, int step, simt::Vector16& mine) const {
    using Format = typename Row::Logit;
    Row::complete(tile, step, mine);
    const std::int32_t first = TileShape<Format>::first(tile, step, simt::thread_index());
    for (std::int32_t r = 0; r < count; ++r) {
      SPECLAB_UNROLL
      for (int k = 0; k < TileShape<Format>::width; ++k) {
        if (first + k == refused[r]) set_logit<Format>(mine, k, from_float<Format>(-INFINITY));
      }
    }
  }
};

/// Shared memory of a block.
template <class T>
struct BlockShared {
  ClusterSums sums;
  TileWeightSum weight_sums[2][max_tiles];  ///< two passes take turns
  simt::BlockScratch<std::int32_t, tile_warps> invalid_nodes;
  std::int32_t parents[max_drafted];
  Token drafted[max_drafted];
  std::int32_t path[max_drafted];  ///< from the context to the node of the walk
  WeightScratch<typename RowOf<T>::Logit>
      scratch[2];  ///< tiles alternate between the two: one barrier per tile is enough
  OwnCells<typename RowOf<T>::Logit> cells;
};

/// A block's view of its request. Every thread has one, with the same values.
template <class T>
class Block {
 public:
  using Row = WithoutRefused<RetainedRow<RowOf<T>>>;

  SPECLAB_DEVICE Block(const Args& args, BlockShared<T>& shared)
      : request(static_cast<std::uint32_t>(simt::block_index()) /
                static_cast<std::uint32_t>(simt::cluster_size())),
        nodes(args.tree.batch.length(request)),
        target_known(args.tree.batch.sum_known(true)),
        draft_known(args.tree.batch.sum_known(false) || args.tree.batch.certain_drafts()),
        args_(args),
        shared_(shared) {}

  /// Loads the shape. If it is invalid, writes the result and returns false.
  SPECLAB_DEVICE bool begins() {
    const TreeBatch& tree = args_.tree;
    if (nodes < 0 || nodes > tree.batch.gamma) {
      write(0, invalid_token, flag_length_out_of_range);
      return false;
    }
    std::int32_t invalid_nodes = 0;
    for (std::int32_t i = simt::thread_index(); i < nodes; i += tile_threads) {
      shared_.parents[i] = tree.parent(request, i);
      shared_.drafted[i] = simt::load(tree.batch.drafted.at(request, i, tree.batch.gamma));
      if (!tree.node_valid(request, i)) invalid_nodes = 1;
    }
    const auto either = [](std::int32_t a, std::int32_t b) { return a | b; };
    if (simt::block_reduce(invalid_nodes, shared_.invalid_nodes, either) != 0) {
      write(0, invalid_token, flag_invalid_tree);
      return false;
    }
    return true;
  }

  SPECLAB_DEVICE std::int32_t child_of(std::int32_t node, std::int32_t after) const {
    return next_child([this](std::int32_t i) { return shared_.parents[i]; }, nodes, node, after);
  }

  /// Waits until the walk may begin: for the sums, if an earlier launch takes them, and for all blocks of the
  /// cluster, because no block may write to another block's shared memory before that block has started.
  SPECLAB_DEVICE void wait_to_walk() const {
    if (args_.parts != nullptr) simt::wait_for_previous();
    simt::cluster_sync();
  }

  /// Sums the row pair of a position, unless both sums are known or were taken before, and writes the sums to
  /// a node: the first warp writes the target's and the second the draft's (0 for chosen children). `sync`
  /// before they are read.
  SPECLAB_DEVICE void arrive(std::int32_t position, TriedNode& node) {
    sum_rows(position);
    const int warp = simt::thread_index() / simt::warp_size;
    if (warp >= 2) return;
    const bool of_target = warp == 0;
    LogSum of_row{0, no_token, 0};
    if (of_target || !args_.tree.batch.certain_drafts()) of_row = sum(of_target, position);
    if (simt::thread_index() % simt::warp_size == 0) (of_target ? node.target : node.draft) = of_row;
  }

  /// Returns the distribution that is left of the target when `taken` times the draft is subtracted.
  SPECLAB_DEVICE NextDistribution residual(std::int32_t position, const TriedNode& node, double taken) const {
    const PositionDecision decided{node.target, node.draft, 0, 0, false, 0};
    NextDistribution residual =
        fused::distribution_of_rejection(args_.tree.batch, request, position, decided);
    residual.log_scale = static_cast<float>(log2(taken));
    return residual;
  }

  /// Returns the rows of a distribution; each comes from shared memory if it was the last one read. The first
  /// one lacks the `refused` ids. Unless `of_target` the draft's row stands alone, in the target's place.
  SPECLAB_DEVICE RowPair<Row> rows_of(NextDistribution of, const Token* refused = nullptr,
                                      std::int32_t count = 0, bool of_target = true) const {
    const TreeBatch& tree = args_.tree;
    const std::int32_t position = of.position;
    const std::int32_t at = of_target ? position : tree.draft_position(request, position);
    const auto first = target_ids_row<T>(tree.batch, of_target, request, at);
    if (of.weighing == Weighing::residual) of.position = tree.draft_position(request, position);
    const auto pair = row_pair<T>(tree.batch, request, of);
    return {{retained_row(first, of_target, args_.keeps, kept(of_target) == position), refused, count},
            {retained_row(pair.draft, false, args_.keeps, kept_[false] == position), nullptr, 0},
            pair.draft_sum_given};
  }

  /// Passes over a distribution's rows. A row that stands alone is in the target's place. All blocks call it;
  /// it ends with `cluster_sync`.
  SPECLAB_DEVICE void weigh(RowPair<Row> rows, const NextDistribution& of, bool of_target = true) {
    const bool with_draft = of.weighing == Weighing::residual && !of.certain;
    send_rows(rows, with_draft, args_.tiles);
    pass_turn_ ^= 1;
    weigh_tiles(rows, of, simt::cluster_rank(), simt::cluster_size(), args_.tiles, shared_.scratch,
                [this](std::int32_t tile, const TileWeightSum& sum, const auto& cells) {
                  tell_cluster(shared_.weight_sums[pass_turn_][tile], sum);
                  shared_.cells.keep(tile, cells);
                });
    if (of_target) kept_[true] = of.position;
    if (with_draft || !of_target) kept_[false] = of.position;
    simt::cluster_sync();
  }

  /// Says whether another pass must sum what is left of the draft before the next child is tried, because the
  /// refused siblings had so much of it that the difference has few digits. All threads and blocks get the
  /// same answer.
  SPECLAB_DEVICE bool draft_is_exhausted(const TriedNode& node) const {
    return node.draft.top == no_token && node.siblings.draft_left < min_draft_difference;
  }
  /// Returns the probability that the last pass found over the draft's row alone. One warp calls it.
  SPECLAB_DEVICE double draft_left(std::int32_t position, const TriedNode& node) const {
    const std::int32_t row = args_.tree.draft_position(request, position);
    const float scale = row_scale(args_.tree.batch, false, request, row).scale;
    double own = 0;
    for (std::int32_t t = simt::thread_index(); t < args_.tiles; t += simt::warp_size) {
      const TileWeightSum tile = weight_sum(t);
      const float relative = relative_weight(tile.reference, scale, node.draft.reference);
      if (tile.sum != 0) own += tile.sum * static_cast<double>(relative);
    }
    return simt::warp_sum(own) * exp2(-node.draft.log_sum);
  }
  /// Returns the sum of the last pass, in its units. One warp calls it.
  SPECLAB_DEVICE double total_weight() const {
    double own = 0;
    for (std::int32_t t = simt::thread_index(); t < args_.tiles; t += simt::warp_size)
      own += weight_sum(t).sum;
    return simt::warp_sum(own);
  }

  /// Returns the total that a refusal leaves of a target that has all probability on one id. One thread calls
  /// it.
  SPECLAB_DEVICE double left_of_top(std::int32_t position, const TriedNode& node) const {
    const TreeBatch& tree = args_.tree;
    const double log_draft = log_probability_of<T>(
        tree.batch, false, request, tree.draft_position(request, position), node.target.top, node.draft);
    const double left = 1 - node.siblings.taken_next() * exp2(log_draft);
    return left > 0 ? left : 0;
  }

  /// Draws the next token from the rows of the last pass, and writes the result. `leaf`: no child of the node
  /// was tried. All blocks call it.
  SPECLAB_DEVICE void draw(const RowPair<Row>& rows, const NextDistribution& of, bool leaf,
                           std::int32_t accepted, std::uint32_t flags) {
    const VerifyBatch& batch = args_.tree.batch;
    const int thread = simt::thread_index();
    const auto sum_at = [this](std::int32_t t) { return weight_sum(t); };
    if (leaf && has_sum_of_frozen_row(batch, true, request, of.position))
      return write_invalid(accepted, flags);
    if (leaf && row_scale(batch, true, request, of.position).lowest()) {
      if (simt::cluster_rank() != 0 || thread >= simt::warp_size) return;
      const LogSum sum = merge_tops(args_.tiles, sum_at);
      if (sum.top == no_token) return write_invalid(accepted, flags);
      return write(accepted, sum.top, flags);
    }
    // Every warp of every block makes the whole choice itself.
    const TileChoice choice = choose_tile(batch, request, args_.tiles, of, leaf, sum_at);
    if (choice.invalid || choice.zero_residual) return write_invalid(accepted, flags);
    if (choice.tile % simt::cluster_size() != simt::cluster_rank()) return;
    const WeightsOf<Row> weights(rows, of);
    draw_in_tile(
        weights, choice, [&](int i) { return shared_.cells.at(choice.tile, i); },
        [&](Token next) { write_tree_result(args_.tree, request, shared_.path, accepted, next, flags); });
  }

  /// Writes a result that every block knows.
  SPECLAB_DEVICE void write(std::int32_t accepted, Token next, std::uint32_t flags) const {
    if (simt::cluster_rank() != 0 || simt::thread_index() != 0) return;
    write_tree_result(args_.tree, request, shared_.path, accepted, next, flags);
  }
  SPECLAB_DEVICE void write_invalid(std::int32_t accepted, std::uint32_t flags) const {
    write(accepted, invalid_token, flags | flag_invalid_row);
  }

  const std::int64_t request;
  const std::int32_t nodes;
  const bool target_known;
  const bool draft_known;

 private:
  SPECLAB_DEVICE void sum_rows(std::int32_t position) {
    if (args_.parts != nullptr) {
      fetch_parts(position);
    } else if (!target_known || !draft_known) {
      const TreeBatch& tree = args_.tree;
      node_turn_ ^= 1;
      const auto row_at = [&](bool of_target) {
        const std::int32_t at = of_target ? position : tree.draft_position(request, position);
        return copied_row(logit_row<T>(tree.batch, of_target, request, at), of_target, args_.keeps);
      };
      sum_row_pair(args_.tiles, node_turn_, {!draft_known, !target_known}, row_at, shared_.sums);
      if (!target_known) kept_[true] = position;
      // A draft row with its own ids cannot be weighed as it was read.
      if (!draft_known) kept_[false] = tree.batch.draft_place == nullptr ? position : -1;
    }
    simt::sync();
  }
  SPECLAB_DEVICE void fetch_parts(std::int32_t position) {
    node_turn_ ^= 1;
    for (std::int32_t i = simt::thread_index(); i < 2 * args_.tiles; i += tile_threads) {
      const bool of_target = i >= args_.tiles;
      const std::int32_t tile = of_target ? i - args_.tiles : i;
      if (of_target ? target_known : draft_known) continue;
      const PartialSum* const part = fused::parts_of(args_, request, of_target, position) + tile;
      shared_.sums.parts[node_turn_][of_target][tile] = {simt::load_fresh(&part->reference),
                                                         simt::load_fresh(&part->sum)};
    }
  }
  SPECLAB_DEVICE LogSum sum(bool of_target, std::int32_t position) const {
    const PartialSum* const parts = shared_.sums.parts[node_turn_][of_target];
    const std::int32_t at = of_target ? position : args_.tree.draft_position(request, position);
    return sum_of_row(args_.tree.batch, request, of_target, at, args_.tiles,
                      [parts](std::int32_t t) { return parts[t]; });
  }
  /// Returns kept_[of_target] without an index that is computed at run time: with one, the compiler would
  /// place the whole Block in local memory.
  SPECLAB_DEVICE std::int32_t kept(bool of_target) const { return of_target ? kept_[true] : kept_[false]; }
  SPECLAB_DEVICE TileWeightSum weight_sum(std::int32_t tile) const {
    return shared_.weight_sums[pass_turn_][tile];
  }

  const Args& args_;
  BlockShared<T>& shared_;
  /// The position whose row was read last, for the draft and for the target.
  std::int32_t kept_[2] = {-1, -1};
  int node_turn_ = 0;
  int pass_turn_ = 0;
};

}  // namespace speclab::tree

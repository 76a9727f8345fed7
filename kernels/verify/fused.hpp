// Verifies exactly in two launches, without softmaxed rows and without V-sized scratch.
//
// `Statistics` reads every row once, unless its log-sum-exp is given, and writes (maximum, sum) per tile.
// Each block of `Next` makes all acceptance draws of its request from these, a warp for each row of a
// position. It then weighs tiles of the one row pair from which the next token is drawn, and writes their
// sums and those of their cells (tile.hpp). The last block of a request chooses a tile and a cell, weighs
// that cell again and draws the id. Only `Next` reads the bonus row. If all sums are given, `Clear` prepares
// the counters instead of `Statistics`.
//
// It should be fast because logits are read as they are, in 16-byte loads that are all in flight before the
// first is used: (s_t + s_d) gamma bytes per id and one more row (pair); if both sums are given, only that
// row (pair). No block waits for another while rows are read: each block of `Next` repeats the acceptance
// draws, from a kilobyte that the L2 cache holds, and blocks are only counted, a few per request. `Next`
// starts while `Statistics` ends (programmatic dependent launch), and nothing waits for the host.
#pragma once

#include <cstdint>
#include <type_traits>

#include "kernels/verify/draw.hpp"
#include "kernels/verify/position_decision.hpp"
#include "kernels/verify/statistics.hpp"

namespace speclab::fused {

/// Positions that a block decides at once: two warps serve each, one for the target's row and one for the
/// draft's.
inline constexpr int positions_at_once = tile_warps / 2;

/// The sides that a block's warps have found for these positions: the draft's, then the target's.
struct SidesScratch {
  PositionSide of[2][positions_at_once];
};

/// Makes the acceptance draws of up to `positions_at_once` positions from `first` on: lane l of the first
/// warp gets the draw of position first + l. All threads of a block call it, and `sync` before the scratch is
/// used again. The first call waits for the previous launch, after it has read everything that does not come
/// from that launch.
template <class T>
SPECLAB_DEVICE PositionDecision decide_positions(const Args& args, std::int64_t request, std::int32_t first,
                                                 std::int32_t length, SidesScratch& sides) {
  const VerifyBatch& batch = args.batch;
  const int lane = simt::thread_index() % simt::warp_size;
  const int warp = simt::thread_index() / simt::warp_size;
  const auto token_at = [&](std::int32_t position) {
    return simt::load(batch.drafted.at(request, position, batch.gamma));
  };

  const bool of_target = warp < positions_at_once;
  const std::int32_t position = first + warp % positions_at_once;
  const bool sums = position < length && (of_target || !batch.certain_drafts());
  const Token token = sums ? token_at(position) : no_token;
  TokenLogit of_token{};
  if (sums && has_logit(batch, of_target, token))
    of_token = token_logit<T>(batch, of_target, request, position, token);
  const std::int32_t position_of_lane = first + lane;
  const bool decides = warp == 0 && lane < positions_at_once && position_of_lane < length;
  const Token token_of_lane = decides ? token_at(position_of_lane) : no_token;
  const double u = decides ? acceptance_uniform(batch, request, position_of_lane) : 0;
  if (first == 0) simt::wait_for_previous();

  if (sums) {
    const PartialSum* const parts = parts_of(args, request, of_target, position);
    const LogSum sum = sum_of_row(batch, request, of_target, position, args.tiles, [parts](std::int32_t t) {
      return PartialSum{simt::load_fresh(&parts[t].reference), simt::load_fresh(&parts[t].sum)};
    });
    const PositionSide side = position_side(batch, of_target, token, of_token, sum);
    if (lane == 0) sides.of[of_target][position - first] = side;
  }
  simt::sync();
  if (!decides) return {};
  PositionSide draft{{0, no_token, 0}, log_of_zero};
  if (!batch.certain_drafts()) draft = sides.of[false][lane];
  return decide_position(batch, token_of_lane, sides.of[true][lane], draft, u);
}

/// The end of the acceptance draws, and the distribution of the next token.
struct Decision {
  std::int32_t accepted;
  std::uint32_t flags;
  bool invalid;
  NextDistribution distribution;
};

/// Returns the distribution after a rejection at `position`.
SPECLAB_DEVICE inline NextDistribution distribution_of_rejection(const VerifyBatch& batch,
                                                                 std::int64_t request, std::int32_t position,
                                                                 const PositionDecision& decided) {
  NextDistribution distribution;
  distribution.position = position;
  distribution.weighing = Weighing::residual;
  distribution.target = decided.target;
  distribution.draft = decided.draft;
  distribution.log_scale = log_residual_scale(batch.rule);
  distribution.certain = batch.certain_drafts();
  if (distribution.certain) distribution.token = batch.drafted_token(request, position);
  if (decided.draft.top != no_token && batch.draft_place == nullptr) {
    distribution.certain = true;
    distribution.token = decided.draft.top;
  }
  // If the target has all probability on one id, that id follows, whatever the draft takes from it.
  if (decided.target.top != no_token) {
    distribution.weighing = Weighing::known;
    distribution.token = decided.target.top;
  }
  return distribution;
}

/// Returns the distribution after all `length` drafted tokens were accepted.
SPECLAB_DEVICE inline NextDistribution distribution_of_bonus(const VerifyBatch& batch, std::int64_t request,
                                                             std::int32_t length) {
  NextDistribution distribution;
  distribution.position = length;
  if (batch.bonus != nullptr) {
    distribution.weighing = Weighing::known;
    distribution.token = batch.bonus[request];
  }
  return distribution;
}

SPECLAB_DEVICE inline Decision rejection_at(const VerifyBatch& batch, std::int64_t request,
                                            std::int32_t position, const PositionDecision& decided) {
  return {position, decided.flags, decided.target.invalid() || decided.draft.invalid(),
          distribution_of_rejection(batch, request, position, decided)};
}

struct DecideScratch {
  SidesScratch sides;
  Decision decision;
  bool ended;
};

/// Makes a request's acceptance draws up to the first rejection. All threads of a block call it and find the
/// decision in the scratch. Of all blocks that make the draws, the one with `leaves` writes the accepted
/// tokens' logarithms.
template <class T>
SPECLAB_DEVICE void decide(const Args& args, std::int64_t request, std::int32_t length, bool leaves,
                           DecideScratch& scratch) {
  const int thread = simt::thread_index();
  std::int32_t first = 0;
  do {
    const PositionDecision decided = decide_positions<T>(args, request, first, length, scratch.sides);
    if (thread < simt::warp_size) {
      const std::int32_t count = length - first < positions_at_once ? length - first : positions_at_once;
      const std::uint32_t rejected = simt::ballot(thread < count && !decided.accepted);
      const std::int32_t accepted = rejected != 0 ? simt::lowest_bit(rejected) : count;
      if (leaves && thread < accepted)
        leave_logs(args.batch, request, first + thread, decided.log_target, decided.target);
      if (rejected != 0 && thread == accepted) {
        scratch.decision = rejection_at(args.batch, request, first + accepted, decided);
      } else if (rejected == 0 && thread == 0) {
        scratch.decision = {length, 0, false, distribution_of_bonus(args.batch, request, length)};
      }
      if (thread == 0) scratch.ended = rejected != 0;
    }
    simt::sync();
    first += positions_at_once;
  } while (first < length && !scratch.ended);
}

/// Returns whether this is the last of a request's blocks to finish. If so, `load_fresh` reads all that the
/// others wrote before. All threads of the block call it.
SPECLAB_DEVICE inline bool last_to_finish(std::uint32_t* finished, std::uint32_t blocks, bool& scratch) {
  // The barrier puts the writes of other threads before the fence, too.
  simt::sync();
  if (simt::thread_index() == 0) {
    simt::fence();
    scratch = simt::fetch_add(finished, 1U) == blocks - 1;
    simt::fence();
  }
  simt::sync();
  return scratch;
}

/// Writes the result of a request that ends with `next`, which was drawn from a row with this sum. One thread
/// calls it.
template <class Row>
SPECLAB_DEVICE void write_drawn(const VerifyBatch& batch, std::int64_t request, const Row& target,
                                const Decision& decision, Token next, const LogSum& sum) {
  write_result(batch, request, decision.accepted, next, decision.flags);
  if (batch.log_probabilities == nullptr && batch.log_sum_exps == nullptr) return;
  const double logit = static_cast<double>(target.one(next));
  leave_logs(batch, request, decision.accepted, token_log_probability(logit, target.scale, sum), sum);
}

SPECLAB_DEVICE inline void write_invalid(const VerifyBatch& batch, std::int64_t request,
                                         const Decision& decision) {
  write_result(batch, request, decision.accepted, invalid_token, decision.flags | flag_invalid_row);
}

/// Writes the result of a request whose next token is known. One thread calls it.
SPECLAB_DEVICE inline void write_known(const VerifyBatch& batch, std::int64_t request,
                                       const Decision& decision) {
  if (decision.invalid) return write_invalid(batch, request, decision);
  const NextDistribution& distribution = decision.distribution;
  write_result(batch, request, decision.accepted, distribution.token, decision.flags);
  // A given bonus token has no known probability, and its row no known sum.
  const LogSum& sum = distribution.target;
  leave_logs(batch, request, decision.accepted, sum.top != no_token ? 0 : invalid_log, sum);
}

/// Writes the result of a request whose next token is the one id that has all probability; finds it in the
/// tiles' tops. One warp calls it.
template <class WeightSum>
SPECLAB_DEVICE void finish_top(const VerifyBatch& batch, std::int64_t request, std::int32_t tiles,
                               const Decision& decision, const WeightSum& weight_sum) {
  const LogSum sum = merge_tops(tiles, weight_sum);
  if (simt::thread_index() != 0) return;
  if (sum.top == no_token) return write_invalid(batch, request, decision);
  write_result(batch, request, decision.accepted, sum.top, decision.flags);
  leave_logs(batch, request, decision.accepted, 0, sum);
}

/// Returns whether the next token is the one id that has all probability in its row, and is still to be
/// found.
SPECLAB_DEVICE inline bool wants_top(const VerifyBatch& batch, std::int64_t request,
                                     const Decision& decision) {
  return decision.distribution.weighing == Weighing::target &&
         row_scale(batch, true, request, decision.accepted).lowest();
}

/// Draws the next token from the chosen tile and writes the result; `cell(i)` gives the tile's cells. All
/// threads of one block call it.
template <class Row, class Cell>
SPECLAB_DEVICE void finish(const VerifyBatch& batch, std::int64_t request, const RowPair<Row>& rows,
                           const Decision& decision, const TileChoice& choice, const Cell& cell) {
  const bool own = decision.distribution.weighing == Weighing::target;
  if (decision.invalid || choice.invalid ||
      (own && has_sum_of_frozen_row(batch, true, request, decision.accepted))) {
    if (simt::thread_index() == 0) write_invalid(batch, request, decision);
    return;
  }
  const WeightsOf<Row> weights(rows, decision.distribution);
  draw_in_tile(weights, choice, cell, [&](Token next) {
    // The choice of the tile has summed a bonus token's row.
    LogSum sum = decision.distribution.target;
    sum.top = no_token;
    if (sum.invalid())
      sum = batch.sum_known(true) ? known_sum(batch, true, request, decision.accepted) : choice.row();
    write_drawn(batch, request, rows.target, decision, next, sum);
  });
}

/// Makes the target the distribution of the next token. If a rejection leaves no residual, which rounding can
/// cause, the target is sampled.
SPECLAB_DEVICE inline void sample_target(Decision& decision) {
  decision.distribution.weighing = Weighing::target;
  decision.flags |= flag_zero_residual;
}

/// Weights of the tiles of a request, or of one of its positions, in the workspace.
template <class T>
struct LeftWeights {
  static constexpr int cells = TileShape<T>::cells;
  TileWeightSum* sums;  ///< [tiles]
  float* of_cells;      ///< [tiles, cells]

  SPECLAB_DEVICE static LeftWeights of(const Args& args, std::int64_t place) {
    return {args.weight_sums + place * args.tiles, args.weight_cells + place * args.tiles * cells};
  }
  /// Writes a tile's sum and cells, which `weigh_tiles` hands over.
  SPECLAB_DEVICE void operator()(std::int32_t tile, const TileWeightSum& sum,
                                 const LaneCells<typename RowOf<T>::Logit>& own) const {
    if (simt::thread_index() == 0) sums[tile] = sum;
    own.leave(of_cells + tile * cells);
  }
  SPECLAB_DEVICE float cell(std::int32_t tile, int i) const {
    return simt::load_fresh(of_cells + tile * cells + i);
  }
};

/// Ends a request in its last block: chooses the tile and the cell, draws the id and writes the result. The
/// decision is in shared memory because registers are scarce. `kept` has room for [tiles] sums, so that each
/// is read from global memory once.
template <class T>
SPECLAB_DEVICE void finish_from(const VerifyBatch& batch, std::int64_t request, std::int32_t tiles,
                                Decision& decision, const LeftWeights<T>& left, TileWeightSum* kept,
                                WeightScratch<typename RowOf<T>::Logit> (&scratch)[2]) {
  for (std::int32_t t = simt::thread_index(); t < tiles; t += tile_threads)
    kept[t] = {simt::load_fresh(&left.sums[t].sum), simt::load_fresh(&left.sums[t].reference)};
  simt::sync();
  const auto weight_sum = [kept](std::int32_t t) { return kept[t]; };
  if (wants_top(batch, request, decision)) {
    if (simt::thread_index() < simt::warp_size) finish_top(batch, request, tiles, decision, weight_sum);
    return;
  }
  // Every warp makes the whole choice itself, so that no barrier is needed.
  const bool bonus = decision.distribution.weighing == Weighing::target;
  TileChoice choice = choose_tile(batch, request, tiles, decision.distribution, bonus, weight_sum);
  if (choice.zero_residual && !decision.invalid) {
    // A residual of 0 is so rare that one block may weigh the whole row.
    simt::sync();
    if (simt::thread_index() == 0) sample_target(decision);
    NextDistribution distribution;
    distribution.position = decision.accepted;
    weigh_tiles(row_pair<T>(batch, request, distribution), distribution, 0, 1, tiles, scratch,
                [&](std::int32_t tile, const TileWeightSum& sum, const auto& cells) {
                  if (simt::thread_index() == 0) kept[tile] = sum;
                  left(tile, sum, cells);
                });
    simt::sync();
    choice = choose_tile(batch, request, tiles, decision.distribution, false, weight_sum);
  }
  finish(batch, request, row_pair<T>(batch, request, decision.distribution), decision, choice,
         [&](int i) { return left.cell(choice.tile, i); });
}

/// Finds the next token in token and lenient verification.
template <class T>
struct Next : simt::KernelOf<fused::Args, tile_threads, std::is_same_v<T, AnyLogit> ? 2 : 4> {
  static constexpr const char* name = "next token";

  struct Shared {
    DecideScratch decide;
    WeightScratch<typename RowOf<T>::Logit>
        scratch[2];  ///< tiles alternate between the two: one barrier per tile is enough
    TileWeightSum weight_sums[max_tiles];
    bool last;
  };

  SPECLAB_DEVICE void operator()(const Args& args) const {
    const VerifyBatch& batch = args.batch;
    const BlockPlace place = block_place(1, args.next_blocks);
    const std::int64_t request = place.request;
    const std::int32_t length = batch.length(request);
    // An invalid length ends this block before the acceptance draws, which otherwise wait for the previous
    // launch.
    if (length < 0 || length > batch.gamma) simt::wait_for_previous();
    if (refuses_length(batch, request, place.tile == 0 && simt::thread_index() == 0)) return;

    auto& shared = simt::shared<Shared>();
    const auto left = LeftWeights<T>::of(args, request);
    decide<T>(args, request, length, place.tile == 0, shared.decide);
    {
      const NextDistribution distribution = shared.decide.decision.distribution;
      if (distribution.weighing == Weighing::known) {
        if (place.tile == 0 && simt::thread_index() == 0) write_known(batch, request, shared.decide.decision);
        return;
      }
      weigh_tiles(row_pair<T>(batch, request, distribution), distribution, place.tile, args.next_blocks,
                  args.tiles, shared.scratch, left);
    }
    if (!last_to_finish(args.weighed + request, static_cast<std::uint32_t>(args.next_blocks), shared.last))
      return;
    finish_from<T>(batch, request, args.tiles, shared.decide.decision, left, shared.weight_sums,
                   shared.scratch);
  }
};

}  // namespace speclab::fused

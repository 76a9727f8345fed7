// Exact verification without softmaxed rows and without V-sized scratch.
//
// `Statistics` reads each row whose log-sum-exp is not given once, one block a tile, and leaves (maximum,
// sum) per tile; the last block of a request to finish makes its acceptance draws. `Next` reads the one row
// pair that the next token is drawn from, by several blocks a request, and leaves sums of weights per tile;
// the last block of a request chooses a tile, weighs it again and draws the id. The bonus row is read by
// `Next` alone. Where all sums are known, `DecidePositions` makes the acceptance draws instead.
//
// What should make it fast: logits are read as they are, in 16-byte loads, (s_t + s_d) gamma bytes an id and
// one row (pair) more; with both sums known only that row. One request's acceptance draws are made while the
// rows of others are read, and `Next` finds them ready. Each launch starts as the one before ends
// (programmatic dependent launch), and nothing waits for the host.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/simt/launch.hpp"
#include "kernels/verify/position_decision.hpp"
#include "kernels/verify/weights.hpp"

namespace speclab::fused {

struct Args {
  VerifyBatch batch;
  std::int32_t tiles;
  std::int32_t target_rows;  ///< whose statistics are taken of a request, from its first position on
  std::int32_t draft_rows;
  std::int32_t next_blocks;     ///< of `Next` for each request (and position, of block verification)
  std::uint32_t* read;          ///< [requests] blocks of `Statistics` that are done
  std::uint32_t* weighed;       ///< [requests] blocks of `Next` that are done
  PositionDecision* decided;    ///< [requests, gamma]
  PartialSum* parts;            ///< [requests, target_rows + draft_rows, tiles]
  TileWeightSums* weight_sums;  ///< [requests, tiles]; of block verification [requests, gamma + 1, tiles]
};

/// The parts of one row.
SPECLAB_HD inline PartialSum* parts_of(const Args& args, std::int64_t request, bool of_target,
                                       std::int32_t position) {
  const std::int32_t row = of_target ? position : args.target_rows + position;
  return args.parts + (request * (args.target_rows + args.draft_rows) + row) * args.tiles;
}

/// A row's sum, where all its parts are there. By one warp.
SPECLAB_DEVICE inline LogSum row_sum(const Args& args, std::int64_t request, bool of_target,
                                     std::int32_t position) {
  const PartialSum* const parts = parts_of(args, request, of_target, position);
  return sum_of_row(args.batch, request, of_target, position, args.tiles, [parts](std::int32_t t) {
    return PartialSum{simt::load_fresh(&parts[t].reference), simt::load_fresh(&parts[t].sum)};
  });
}

/// Is this the last of a request's blocks? Whatever the others wrote before is there for `load_fresh`. All
/// threads of the block.
SPECLAB_DEVICE inline bool last_to_finish(std::uint32_t* finished, std::uint32_t blocks, bool& scratch) {
  if (simt::thread_index() == 0) {
    simt::fence();
    scratch = simt::fetch_add(finished, 1U) == blocks - 1;
    simt::fence();
  }
  simt::sync();
  return scratch;
}

/// All acceptance draws of a request, a warp for each position. All threads of one block.
template <class T>
SPECLAB_DEVICE void decide_positions(const Args& args, std::int64_t request, std::int32_t length) {
  const int thread = simt::thread_index();
  for (std::int32_t i = thread / simt::warp_size; i < length; i += tile_warps) {
    const PositionDecision decided = decide_position<T>(
        args.batch, request, i,
        [&](bool of_target, std::int32_t position) { return row_sum(args, request, of_target, position); });
    if (thread % simt::warp_size == 0) args.decided[request * args.batch.gamma + i] = decided;
  }
}

/// Sets the counters to zero.
struct Clear : simt::KernelOf<fused::Args, tile_threads, 4> {
  static constexpr const char* name = "clear";

  SPECLAB_DEVICE void operator()(const Args& args) const {
    simt::let_next_start();
    const std::int64_t request = simt::block_index() * threads + simt::thread_index();
    if (request < args.batch.requests) args.read[request] = args.weighed[request] = 0;
  }
};

template <class T>
struct Statistics : simt::KernelOf<fused::Args, tile_threads, 4> {
  static constexpr const char* name = "statistics";

  struct Shared {
    PartialSumScratch scratch;
    bool last;
  };

  SPECLAB_DEVICE void operator()(const Args& args) const {
    simt::let_next_start();
    const VerifyBatch& batch = args.batch;
    const BlockPlace place = block_place(args.target_rows + args.draft_rows, args.tiles);
    const std::int64_t request = place.request;
    const bool of_target = place.position < args.target_rows;
    const std::int32_t position = of_target ? place.position : place.position - args.target_rows;
    const std::int32_t length = batch.length(request);
    // Rows past a shorter request's end. Whoever ends says that the counters are clear.
    if (position >= length) {
      simt::wait_for_previous();
      return;
    }

    const RowPair<T> rows{batch, request, position};
    auto& shared = simt::shared<Shared>();
    const PartialSum partial =
        tile_partial_sum(rows.logits(of_target, place.tile), rows.scale(of_target).scale, shared.scratch);
    if (simt::thread_index() == 0) parts_of(args, request, of_target, position)[place.tile] = partial;
    simt::wait_for_previous();
    const std::int32_t sides = (args.target_rows > 0 ? 1 : 0) + (args.draft_rows > 0 ? 1 : 0);
    const auto blocks = static_cast<std::uint32_t>(args.tiles * length * sides);
    if (length > batch.gamma || !last_to_finish(args.read + request, blocks, shared.last)) return;
    decide_positions<T>(args, request, length);
  }
};

/// The acceptance draws where no row has to be read for them: one block a request. Clears the counters as
/// well.
template <class T>
struct DecidePositions : simt::KernelOf<fused::Args, tile_threads, 2> {
  static constexpr const char* name = "judge";

  SPECLAB_DEVICE void operator()(const Args& args) const {
    simt::let_next_start();
    const std::int64_t request = simt::block_index();
    if (simt::thread_index() == 0) args.weighed[request] = 0;
    const std::int32_t length = args.batch.length(request);
    if (length <= args.batch.gamma) decide_positions<T>(args, request, length);
  }
};

/// The outcome of a request's acceptance draws, as its blocks read it. All threads of a block; `sync`
/// afterwards.
SPECLAB_DEVICE inline void load_verdicts(const Args& args, std::int64_t request, std::int32_t length,
                                         PositionDecision (&verdicts)[most_drafted]) {
  const int thread = simt::thread_index();
  if (thread < length) verdicts[thread] = args.decided[request * args.batch.gamma + thread];
}

/// Where the acceptance draws end, and the distribution of the next token. Thread by thread the same.
struct Decision {
  std::int32_t accepted;
  std::uint32_t flags;
  bool invalid;
  NextDistribution distribution;
};

/// The distribution after a rejection at `position`.
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
  distribution.drafted = batch.drafted[request * batch.gamma + position];
  return distribution;
}

/// The distribution after `length` accepted tokens.
SPECLAB_DEVICE inline NextDistribution distribution_of_bonus(std::int32_t length) {
  NextDistribution distribution;
  distribution.position = length;
  distribution.weighing = Weighing::relative;
  return distribution;
}

SPECLAB_DEVICE inline Decision rejection_at(const VerifyBatch& batch, std::int64_t request,
                                            std::int32_t position, const PositionDecision& decided) {
  return {position, decided.flags, decided.target.invalid() || decided.draft.invalid(),
          distribution_of_rejection(batch, request, position, decided)};
}

SPECLAB_DEVICE inline Decision decide(const VerifyBatch& batch, std::int64_t request, std::int32_t length,
                                      const PositionDecision* decided) {
  std::int32_t accepted = 0;
  while (accepted < length && decided[accepted].accepted) ++accepted;
  if (accepted == length) return {length, 0, false, distribution_of_bonus(length)};
  return rejection_at(batch, request, accepted, decided[accepted]);
}

/// Draws the next token from the chosen tile and writes the result. All threads of one block.
template <class T, class Rows>
SPECLAB_DEVICE void finish(const VerifyBatch& batch, std::int64_t request, const Rows& rows,
                           Decision decision, const TileChoice& choice, WeightScratch& scratch) {
  if (decision.invalid || choice.invalid) {
    if (simt::thread_index() == 0) {
      write_result(batch, request, decision.accepted, invalid_token, decision.flags | flag_invalid_row);
    }
    return;
  }
  if (choice.zero_residual) {
    decision.distribution.weighing = Weighing::target;
    decision.flags |= flag_zero_residual;
  }
  const HeldWeights weights = tile_weights<T>(rows, decision.distribution, choice.tile, choice.reference);
  const Token next = draw_in_tile<T>(weights, choice.tile, choice.goal, scratch);
  if (simt::thread_index() == 0) write_result(batch, request, decision.accepted, next, decision.flags);
}

/// In the last block of a request: chooses, draws and writes.
template <class T>
SPECLAB_DEVICE void finish_from(const VerifyBatch& batch, std::int64_t request, std::int32_t tiles,
                                const Decision& decision, bool bonus, const TileWeightSums* weight_sums,
                                TileChoice& choice_scratch, WeightScratch& scratch) {
  if (simt::thread_index() < simt::warp_size) {
    const auto fresh = [weight_sums](std::int32_t t) {
      return TileWeightSums{simt::load_fresh(&weight_sums[t].residual),
                            simt::load_fresh(&weight_sums[t].target),
                            simt::load_fresh(&weight_sums[t].reference)};
    };
    choose_tile(batch, request, tiles, decision.distribution, bonus, fresh, choice_scratch);
  }
  simt::sync();
  finish<T>(batch, request, RowPair<T>{batch, request, decision.distribution.position}, decision,
            choice_scratch, scratch);
}

/// Weighs every `step`-th tile from `first` on. All threads of the block.
template <class T>
SPECLAB_DEVICE void weigh_tiles(const RowPair<T>& rows, const NextDistribution& distribution,
                                std::int32_t first, std::int32_t step, std::int32_t tiles,
                                TileWeightSums* weight_sums, WeightScratch& scratch) {
  for (std::int32_t tile = first; tile < tiles; tile += step) {
    const TileWeightSums mine = tile_weight_sums<T>(rows, distribution, tile, scratch);
    if (simt::thread_index() == 0) weight_sums[tile] = mine;
  }
}

/// Token and lenient verification.
template <class T>
struct Next : simt::KernelOf<fused::Args, tile_threads, 2> {
  static constexpr const char* name = "next token";

  struct Shared {
    PositionDecision verdicts[most_drafted];
    WeightScratch scratch;
    TileChoice choice;
    bool last;
  };

  SPECLAB_DEVICE void operator()(const Args& args) const {
    const VerifyBatch& batch = args.batch;
    const BlockPlace place = block_place(1, args.next_blocks);
    const std::int64_t request = place.request;
    const std::int32_t length = batch.length(request);
    simt::wait_for_previous();
    if (refuses_length(batch, request, place.tile == 0 && simt::thread_index() == 0)) return;

    auto& shared = simt::shared<Shared>();
    load_verdicts(args, request, length, shared.verdicts);
    simt::sync();
    const Decision decision = decide(batch, request, length, shared.verdicts);
    TileWeightSums* const weight_sums = args.weight_sums + request * args.tiles;
    weigh_tiles<T>({batch, request, decision.distribution.position}, decision.distribution, place.tile,
                   args.next_blocks, args.tiles, weight_sums, shared.scratch);
    if (!last_to_finish(args.weighed + request, static_cast<std::uint32_t>(args.next_blocks), shared.last)) {
      return;
    }
    finish_from<T>(batch, request, args.tiles, decision, decision.accepted == length, weight_sums,
                   shared.choice, shared.scratch);
  }
};

}  // namespace speclab::fused

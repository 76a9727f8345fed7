// Verifies exactly in one launch that never reads a row after the first rejection, with a cluster of blocks
// for each request (sm_90).
//
// The blocks share a row's tiles, exchange their sums through distributed shared memory, and go on to the
// next position only if the acceptance draw succeeded. A row pair that fits stays in shared memory, so that
// after a rejection it is weighed without being read again. Bytes: (s_t + s_d) V (1 + a + ... + a^(gamma-1)),
// and a^gamma s_t V for the bonus, where a is the acceptance rate; if both sums are given, only the row pair
// of the next token. Positions are decided one after the other, so that latencies add up: this pays if there
// are many requests to hide them. Tiles, orders of merging and all bits of the result are those of fused.hpp.
#pragma once

#include <cstdint>

#include "kernels/verify/fused.hpp"
#include "kernels/verify/retained_row.hpp"

namespace speclab::cluster {

struct Args {
  VerifyBatch batch;
  std::int32_t tiles;
  bool keeps;  ///< whether shared memory holds a block's tiles of a row pair
};

template <class T>
struct Lazy : simt::KernelOf<cluster::Args, tile_threads, 2> {
  static constexpr const char* name = "lazy cluster";

  struct Shared {
    ClusterSums sums;
    TileWeightSum weight_sums[max_tiles];
    PositionDecision decided;
    fused::Decision decision;
    WeightScratch<T> scratch[2];  ///< tiles alternate between the two: one barrier per tile is enough
    OwnCells<T> cells;
  };

  SPECLAB_DEVICE void operator()(const Args& args) const {
    const VerifyBatch& batch = args.batch;
    const int blocks = simt::cluster_size();
    const int rank = simt::cluster_rank();
    const int thread = simt::thread_index();
    const std::int64_t request =
        static_cast<std::uint32_t>(simt::block_index()) / static_cast<std::uint32_t>(blocks);
    if (refuses_length(batch, request, rank == 0 && thread == 0)) return;
    const std::int32_t length = batch.length(request);
    auto& shared = simt::shared<Shared>();
    const bool target_known = batch.target_options.log_sum_exp != nullptr;
    const bool draft_known = batch.draft_options.log_sum_exp != nullptr || batch.certain_drafts();
    // No block may write to another block's shared memory before that block has started.
    simt::cluster_sync();

    std::int32_t accepted = length;
    for (std::int32_t i = 0; i < length; ++i) {
      const int turn = i % 2;
      const auto row_at = [&](bool of_target) {
        return copied_row(logit_row<T>(batch, of_target, request, i), of_target, args.keeps);
      };
      sum_row_pair(args.tiles, turn, {!draft_known, !target_known}, row_at, shared.sums);
      if (thread < simt::warp_size) {
        const Token token = simt::load(batch.drafted.at(request, i, batch.gamma));
        const auto side = [&](bool of_target) {
          if (!of_target && batch.certain_drafts()) return PositionSide{{0, no_token, 0}, log_of_zero};
          TokenLogit of_token{};
          if (has_logit(batch, of_target, token))
            of_token = token_logit<T>(batch, of_target, request, i, token);
          const PartialSum* const parts = shared.sums.parts[turn][of_target];
          const LogSum sum = sum_of_row(batch, request, of_target, i, args.tiles,
                                        [parts](std::int32_t t) { return parts[t]; });
          return position_side(batch, of_target, token, of_token, sum);
        };
        const PositionSide draft = side(false);
        const PositionDecision decided =
            decide_position(batch, token, side(true), draft, acceptance_uniform(batch, request, i));
        if (thread == 0) shared.decided = decided;
      }
      simt::sync();
      if (!shared.decided.accepted) {
        accepted = i;
        break;
      }
      if (rank == 0 && thread == 0)
        leave_logs(batch, request, i, shared.decided.log_target, shared.decided.target);
    }
    // The decision is in shared memory because registers are scarce.
    fused::Decision& decision = shared.decision;
    if (thread == 0) {
      decision = accepted < length ? fused::rejection_at(batch, request, accepted, shared.decided)
                                   : fused::Decision{length, 0, false,
                                                     fused::distribution_of_bonus(batch, request, length)};
    }
    simt::sync();
    if (decision.distribution.weighing == Weighing::known) {
      if (rank == 0 && thread == 0) fused::write_known(batch, request, decision);
      return;
    }

    const bool bonus = decision.accepted == length;
    // A row whose sum was given has not been read yet.
    const bool kept = !bonus && !target_known && !(draft_known && !batch.certain_drafts());
    const auto pair = row_pair<T>(batch, request, decision.distribution);
    RowPair<RetainedRow<LogitRow<T>>> rows{retained_row(pair.target, true, args.keeps, kept),
                                           retained_row(pair.draft, false, args.keeps, kept),
                                           pair.draft_sum_given};
    send_rows(rows, pair.draft.data != nullptr, args.tiles);
    const auto weight_sum = [&](std::int32_t t) { return shared.weight_sums[t]; };
    const auto weigh = [&] {
      weigh_tiles(rows, decision.distribution, rank, blocks, args.tiles, shared.scratch,
                  [&](std::int32_t tile, const TileWeightSum& sum, const LaneCells<T>& cells) {
                    tell_cluster(shared.weight_sums[tile], sum);
                    shared.cells.keep(tile, cells);
                  });
      rows.target.keep();
      rows.draft.keep();
      simt::cluster_sync();
    };
    // Every warp of every block makes the whole choice itself.
    const auto choose = [&] {
      return choose_tile(batch, request, args.tiles, decision.distribution, bonus, weight_sum);
    };
    weigh();
    if (fused::wants_top(batch, request, decision)) {
      if (rank == 0 && thread < simt::warp_size)
        fused::finish_top(batch, request, args.tiles, decision, weight_sum);
      return;
    }
    TileChoice choice = choose();
    if (choice.zero_residual && !decision.invalid) {
      simt::sync();
      if (thread == 0) fused::sample_target(decision);
      // No block may write to the shared memory of a block that still chooses.
      simt::cluster_sync();
      weigh();
      choice = choose();
    }
    if (choice.tile % blocks != rank) return;
    fused::finish(batch, request, rows, decision, choice,
                  [&](int i) { return shared.cells.at(choice.tile, i); });
  }
};

}  // namespace speclab::cluster

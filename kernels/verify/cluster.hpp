// Exact verification in one launch that never reads a row behind the first rejection: a cluster of blocks for
// each request (sm_90).
//
// The blocks share a row's tiles, tell each other their sums through distributed shared memory, and
// go on to the next position only when the acceptance draw succeeded. A row pair that fits stays in shared
// memory, so that after a rejection it is weighed without being read again. Bytes: (s_t + s_d) V (1 + a + ...
// + a^(gamma-1)) and a^gamma s_t V for the bonus, where a is the acceptance rate; with both sums known only
// the row pair of the next token. The price is a chain: one position's latency after the other's, so that it
// pays where many requests hide it. Tiles and orders of merging are those of fused.hpp, and so is every bit
// of the result.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/verify/fused.hpp"

namespace speclab::cluster {

struct Args {
  VerifyBatch batch;
  std::int32_t tiles;
  bool keeps;  ///< whether shared memory holds a block's tiles of a row pair
};

/// A block's copy of its tiles, and the rows they are from. Each thread reads back what it wrote itself.
template <class T>
struct RetainedTiles {
  const RowPair<T> rows;
  simt::Vector16* place;  ///< null: nothing is stored, and rows are read again
  int blocks;             ///< of the cluster: tile t is number t / blocks of its block

  SPECLAB_DEVICE RowScale target_scale() const { return rows.target_scale(); }
  SPECLAB_DEVICE RowScale draft_scale() const { return rows.draft_scale(); }
  SPECLAB_DEVICE HeldLogits target(std::int32_t tile) const {
    return place == nullptr ? rows.target(tile) : retained(tile, 0);
  }
  SPECLAB_DEVICE HeldLogits draft(std::int32_t tile) const {
    return place == nullptr ? rows.draft(tile) : retained(tile, 1);
  }
  SPECLAB_DEVICE void keep_target(std::int32_t tile, const HeldLogits& mine) const { keep(tile, 0, mine); }
  SPECLAB_DEVICE void keep_draft(std::int32_t tile, const HeldLogits& mine) const { keep(tile, 1, mine); }

 private:
  SPECLAB_DEVICE simt::Vector16* at(std::int32_t tile, int side, int step) const {
    using Shape = TileShape<T>;
    return place + ((tile / blocks * 2 + side) * Shape::steps + step) * tile_threads + simt::thread_index();
  }
  SPECLAB_DEVICE void keep(std::int32_t tile, int side, const HeldLogits& mine) const {
    using Shape = TileShape<T>;
    if (place == nullptr) return;
    SPECLAB_UNROLL
    for (int s = 0; s < Shape::steps; ++s) *at(tile, side, s) = pack<T>(&mine.logit[s * Shape::width]);
  }
  SPECLAB_DEVICE HeldLogits retained(std::int32_t tile, int side) const {
    using Shape = TileShape<T>;
    HeldLogits mine;
    SPECLAB_UNROLL
    for (int s = 0; s < Shape::steps; ++s) unpack<T>(*at(tile, side, s), &mine.logit[s * Shape::width]);
    return mine;
  }
};

template <class T>
struct Lazy {
  using Args = cluster::Args;
  static constexpr const char* name = "lazy cluster";
  static constexpr int threads = tile_threads;
  static constexpr int min_blocks = 2;

  struct Shared {
    /// Of two positions in turn, so that one barrier a position is enough.
    PartialSum target_parts[2][most_tiles];
    PartialSum draft_parts[2][most_tiles];
    TileWeightSums weight_sums[most_tiles];
    PositionDecision decided;
    PartialSumScratch partial_sum_scratch[2];
    WeightScratch scratch;
    TileChoice choice;
  };

  SPECLAB_DEVICE void operator()(const Args& args) const {
    const VerifyBatch& batch = args.batch;
    const int blocks = simt::cluster_size();
    const int rank = simt::cluster_rank();
    const int thread = simt::thread_index();
    const std::int64_t request =
        static_cast<std::uint32_t>(simt::block_index()) / static_cast<std::uint32_t>(blocks);
    const std::int32_t length = batch.length(request);
    if (length < 0 || length > batch.gamma) {
      if (rank == 0 && thread == 0) write_result(batch, request, 0, invalid_token, flag_length_out_of_range);
      return;
    }
    auto& shared = simt::shared<Shared>();
    auto* const place = args.keeps ? reinterpret_cast<simt::Vector16*>(simt::dynamic_shared()) : nullptr;
    const bool target_known = batch.target_options.log_sum_exp != nullptr;
    const bool draft_known = batch.draft_options.log_sum_exp != nullptr || batch.certain_drafts();
    const auto tell = [&](auto& slot, const auto& value) {
      if (thread < blocks) *simt::cluster_shared(&slot, thread) = value;
    };
    // Nobody writes to a block that has not started.
    simt::cluster_sync();

    fused::Decision decision{length, 0, false, fused::distribution_of_bonus(length)};
    for (std::int32_t i = 0; i < length; ++i) {
      const RetainedTiles<T> rows{{batch, request, i}, place, blocks};
      const int turn = i % 2;
      for (std::int32_t tile = rank; tile < args.tiles; tile += blocks) {
        if (!target_known) {
          const HeldLogits mine = rows.rows.target(tile);
          rows.keep_target(tile, mine);
          tell(shared.target_parts[turn][tile],
               tile_partial_sum(mine, rows.target_scale().scale, shared.partial_sum_scratch[0]));
        }
        if (!draft_known) {
          const HeldLogits mine = rows.rows.draft(tile);
          rows.keep_draft(tile, mine);
          tell(shared.draft_parts[turn][tile],
               tile_partial_sum(mine, rows.draft_scale().scale, shared.partial_sum_scratch[1]));
        }
        simt::sync();
      }
      simt::cluster_sync();
      if (thread < simt::warp_size) {
        const PositionDecision decided =
            decide_position<T>(batch, request, i, [&](bool of_target, std::int32_t) {
              const PartialSum* const parts =
                  of_target ? shared.target_parts[turn] : shared.draft_parts[turn];
              return sum_of_row(batch, request, of_target, i, args.tiles,
                                [parts](std::int32_t t) { return parts[t]; });
            });
        if (thread == 0) shared.decided = decided;
      }
      simt::sync();
      const PositionDecision decided = shared.decided;
      if (!decided.accepted) {
        decision = fused::rejection_at(batch, request, i, decided);
        break;
      }
    }

    const bool bonus = decision.accepted == length;
    // A row whose sum was given has not been read, and so is not stored.
    const bool retained = !bonus && !target_known && !(draft_known && !batch.certain_drafts());
    const RetainedTiles<T> rows{
        {batch, request, decision.distribution.position}, retained ? place : nullptr, blocks};
    for (std::int32_t tile = rank; tile < args.tiles; tile += blocks) {
      tell(shared.weight_sums[tile], tile_weight_sums<T>(rows, decision.distribution, tile, shared.scratch));
    }
    simt::cluster_sync();
    if (thread < simt::warp_size) {
      fused::choose_next_tile(
          batch, request, args.tiles, decision.distribution, bonus,
          [&](std::int32_t t) { return shared.weight_sums[t]; }, shared.choice);
    }
    simt::sync();
    if (shared.choice.tile % blocks != rank) return;
    fused::finish<T>(batch, request, rows, decision, shared.choice, shared.scratch);
  }
};

}  // namespace speclab::cluster

// A row that stays in shared memory once it was read, so that a cluster weighs it without reading it again,
// and how the blocks of a cluster sum a row pair.
#pragma once

#include "kernels/verify/weights.hpp"

namespace speclab {

/// log2 of the blocks of a cluster: tile t is number t >> shift among those of its block. Where a division by
/// the number of blocks takes 30 instructions.
SPECLAB_DEVICE inline int cluster_shift() {
  return simt::highest_bit(static_cast<std::uint32_t>(simt::cluster_size()));
}

/// What there is of a block's copy of its tiles of a row.
enum class Copy : std::uint8_t {
  none,  ///< nothing: the row is read, and copied if there is a place
  sent,  ///< what vectors hold, on its way or there, yet to be completed
  kept   ///< all, complete
};

/// A row, and a block's copy of its tiles. Each thread reads back what it wrote or sent itself.
template <class Row>
struct RetainedRow : Row {
  simt::Vector16* place = nullptr;  ///< of the copy; null: there is none
  int shift = 0;                    ///< of t, for its number among the tiles of its block
  int mask = -1;                    ///< of that number, for its place; 1: there is room for two, in turn
  Copy copy = Copy::none;

  /// Whether bytes can be sent as they are: those of a format known to the compiler, to a place.
  SPECLAB_DEVICE bool sends() const {
    if constexpr (sends_vectors) return place != nullptr;
    return false;
  }
  /// Starts to copy a tile; the row is `sent` once `simt::wait_for_copies` has been called for it.
  SPECLAB_DEVICE void send(std::int32_t tile) const {
    if constexpr (sends_vectors) {
      simt::Vector16* const to = of_tile(tile);
      SPECLAB_UNROLL
      for (int step = 0; step < Shape::steps; ++step) {
        const simt::Vector16* const from = Row::vector(tile, step);
        if (from != nullptr) {
          simt::copy_to_shared(to + step * tile_threads, from);
        } else {
          to[step * tile_threads] = Row::begin(tile, step);
        }
      }
    }
  }
  /// All of a block's tiles have been completed.
  SPECLAB_DEVICE void keep() {
    if (place != nullptr) copy = Copy::kept;
  }
  /// This thread's part of a tile's copy, `tile_threads` from one step to the next.
  SPECLAB_DEVICE simt::Vector16* of_tile(std::int32_t tile) const {
    return place + ((tile >> shift) & mask) * 2 * Shape::steps * tile_threads + simt::thread_index();
  }

  SPECLAB_DEVICE simt::Vector16 begin(std::int32_t tile, int step) const {
    return copy == Copy::none ? Row::begin(tile, step) : of_tile(tile)[step * tile_threads];
  }
  SPECLAB_DEVICE void complete(std::int32_t tile, int step, simt::Vector16& mine) const {
    if (as_loaded(tile)) return;
    Row::complete(tile, step, mine);
    if (place != nullptr) of_tile(tile)[step * tile_threads] = mine;
  }
  SPECLAB_DEVICE bool as_loaded(std::int32_t tile) const {
    return copy == Copy::kept || ((copy == Copy::sent || place == nullptr) && Row::as_loaded(tile));
  }

 private:
  using Shape = TileShape<typename Row::Logit>;
  static constexpr bool sends_vectors = requires(const Row& row) { row.vector(0, 0); };
};

/// The row, with a block's copy in dynamic shared memory, where target and draft take turns, tile by tile.
/// `keeps`: whether there is room for all of a block's tiles, and not for two of each row alone.
template <class Row>
SPECLAB_DEVICE RetainedRow<Row> copied_row(const Row& row, bool of_target, bool keeps) {
  constexpr int side = TileShape<typename Row::Logit>::steps * tile_threads;
  auto* const place = reinterpret_cast<simt::Vector16*>(simt::dynamic_shared());
  return {row, of_target ? place : place + side, cluster_shift(), keeps ? -1 : 1, Copy::none};
}
/// The row, with a copy if all of it has room; `kept`: it is there.
template <class Row>
SPECLAB_DEVICE RetainedRow<Row> retained_row(const Row& row, bool of_target, bool keeps, bool kept) {
  if (!keeps) return {row};
  auto retained = copied_row(row, of_target, true);
  if (kept) retained.copy = Copy::kept;
  return retained;
}

/// Sends all tiles that a block has of the rows of a pair which are not there yet, and waits for them.
template <class Row>
SPECLAB_DEVICE void send_rows(RowPair<Row>& rows, bool with_draft, std::int32_t tiles) {
  const auto send = [tiles](Row& row) {
    if (row.copy != Copy::none || !row.sends()) return;
    for (std::int32_t tile = simt::cluster_rank(); tile < tiles; tile += simt::cluster_size()) row.send(tile);
    row.copy = Copy::sent;
  };
  send(rows.target);
  if (with_draft) send(rows.draft);
  simt::end_copies();
  simt::wait_for_copies<0>();
}

/// Leaves a value that all lanes of a warp have in `slot` of every block of the cluster. By one warp.
template <class Value>
SPECLAB_DEVICE void tell_cluster(Value& slot, const Value& value) {
  const int lane = simt::thread_index() % simt::warp_size;
  if (lane < simt::cluster_size()) *simt::cluster_shared(&slot, lane) = value;
}

/// The cells of the tiles that a block of a cluster weighed last.
template <class T>
struct OwnCells {
  static constexpr int cells = TileShape<T>::cells;
  float of[max_tiles / simt::portable_cluster_blocks * cells];

  /// By the first warp.
  SPECLAB_DEVICE void keep(std::int32_t tile, const LaneCells<T>& own) {
    own.leave(of + (tile >> cluster_shift()) * cells);
  }
  SPECLAB_DEVICE float at(std::int32_t tile, int i) const {
    return of[(tile >> cluster_shift()) * cells + i];
  }
};

/// What the blocks of a cluster know of two row pairs in turn, so that one barrier a pair is enough; of each
/// the draft's tiles, then the target's.
struct ClusterSums {
  PartialSum parts[2][2][max_tiles];
  PartialSumScratch scratch[2][2];  ///< of two tiles in turn, likewise
};

/// `warp_part` of a tile of which `sum_row_pair` has sent what it can to its place. Step by step in loops,
/// for a block goes through it so seldom that to fetch instructions is most of the time.
template <class Row>
SPECLAB_DEVICE PartialSum warp_part_of_copy(const RetainedRow<Row>& row, std::int32_t tile) {
  using T = typename Row::Logit;
  constexpr int steps = TileShape<T>::steps;
  if (!row.as_loaded(tile)) each_step(row, tile, [](int, const simt::Vector16&) {});
  const simt::Vector16* const copy = row.of_tile(tile);
  if (row.scale.lowest()) {
    TopOfThread<T> top;
    SPECLAB_ROLLED
    for (int step = 0; step < steps; ++step) top.take(step, copy[step * tile_threads]);
    return top.of_warp();
  }
  LargestOfThread<T> largest;
  SPECLAB_ROLLED
  for (int step = 0; step < steps; ++step) largest.take(copy[step * tile_threads]);
  const float reference = largest.reference_of_warp(row.scale.scale);
  SumOfThread<T> sum;
  SPECLAB_ROLLED
  for (int step = 0; step < steps; ++step) sum.take(copy[step * tile_threads], row.scale.scale, reference);
  return sum.of_warp(reference);
}

/// Sums those rows of a pair that are `wanted`, the draft's and the target's; `row_at(of_target)` gives one,
/// a `copied_row`. The following tile of both rows is on its way meanwhile. All blocks of a cluster, each
/// with its tiles; ends with `cluster_sync`.
template <class RowAt>
SPECLAB_DEVICE void sum_row_pair(std::int32_t tiles, int turn, const bool (&wanted)[2], const RowAt& row_at,
                                 ClusterSums& sums) {
  // One program for both sides, and not one for each: a block goes through it so seldom that to fetch its
  // instructions is most of the time.
  const auto each_wanted = [&](const auto& visit) {
    SPECLAB_ROLLED
    for (int side = 0; side < 2; ++side) {
      if (!(side == 0 ? wanted[0] : wanted[1])) continue;
      auto row = row_at(side == 1);
      if (row.sends()) row.copy = Copy::sent;
      visit(side, row);
    }
  };
  const int warp = simt::thread_index() / simt::warp_size;
  const int stride = simt::cluster_size();
  int scratch_turn = 0;
  SPECLAB_ROLLED
  for (std::int32_t next = simt::cluster_rank(); next < tiles + stride; next += stride) {
    each_wanted([&](int, const auto& row) {
      if (next < tiles && row.sends()) row.send(next);
    });
    simt::end_copies();
    const std::int32_t tile = next - stride;
    if (tile < 0) continue;
    simt::wait_for_copies<1>();
    each_wanted([&](int side, const auto& row) {
      leave_part(warp_part_of_copy(row, tile), sums.scratch[scratch_turn][side]);
    });
    simt::sync();
    // Each by a warp.
    each_wanted([&](int side, const auto& row) {
      if (warp != side) return;
      tell_cluster(sums.parts[turn][side][tile], merged_part(sums.scratch[scratch_turn][side], row.scale));
    });
    scratch_turn ^= 1;
  }
  simt::cluster_sync();
}

}  // namespace speclab

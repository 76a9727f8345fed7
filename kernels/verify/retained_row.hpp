// Keeps a row in shared memory once it was read, so that a cluster weighs it without reading it again; and
// sums a row pair over the blocks of a cluster.
#pragma once

#include "kernels/verify/weights.hpp"

namespace speclab {

/// Returns log2 of the number of blocks in a cluster: tile t has number t >> shift among the tiles of its
/// block. A division by the number of blocks would take 30 instructions.
SPECLAB_DEVICE inline int cluster_shift() {
  return simt::highest_bit(static_cast<std::uint32_t>(simt::cluster_size()));
}

/// The state of a block's copy of its tiles of a row.
enum class Copy : std::uint8_t {
  none,  ///< no copy: the row is read, and copied if there is room
  sent,  ///< vectors are in flight or have arrived, and are still to be completed
  kept   ///< all tiles are complete
};

/// A row, and a block's copy of its tiles. Each thread reads back what it wrote or sent itself.
template <class Row>
struct RetainedRow : Row {
  simt::Vector16* place = nullptr;  ///< of the copy; null: there is none
  /// A tile t has number t >> shift among the tiles of its block.
  int shift = 0;
  /// Mask that turns this number into the tile's place; 1: there is room for two tiles, which take turns.
  int mask = -1;
  Copy copy = Copy::none;

  /// Returns whether bytes can be copied unchanged: only if the compiler knows the row's format and there is
  /// a place for them.
  SPECLAB_DEVICE bool sends() const {
    if constexpr (sends_vectors) return place != nullptr;
    return false;
  }
  /// Starts to copy a tile. After `simt::wait_for_copies` its state is `sent`.
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
  /// Records that all of a block's tiles have been completed.
  SPECLAB_DEVICE void keep() {
    if (place != nullptr) copy = Copy::kept;
  }
  /// Returns the address of this thread's part of a tile's copy; steps are `tile_threads` vectors apart.
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

/// Returns the row with a block's copy in dynamic shared memory, where target and draft alternate, tile by
/// tile. `keeps`: whether there is room for all of a block's tiles, and not just for two of each row.
template <class Row>
SPECLAB_DEVICE RetainedRow<Row> copied_row(const Row& row, bool of_target, bool keeps) {
  constexpr int side = TileShape<typename Row::Logit>::steps * tile_threads;
  auto* const place = reinterpret_cast<simt::Vector16*>(simt::dynamic_shared());
  return {row, of_target ? place : place + side, cluster_shift(), keeps ? -1 : 1, Copy::none};
}
/// Returns the row, with a copy if all of it has room; `kept`: whether the copy is complete.
template <class Row>
SPECLAB_DEVICE RetainedRow<Row> retained_row(const Row& row, bool of_target, bool keeps, bool kept) {
  if (!keeps) return {row};
  auto retained = copied_row(row, of_target, true);
  if (kept) retained.copy = Copy::kept;
  return retained;
}

/// Starts to copy all of a block's tiles of a row pair that are not there yet, and waits for them.
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

/// Writes a value that all lanes of a warp have to `slot` of every block of the cluster. One warp calls it.
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

  /// Keeps a tile's cells; the first warp calls it.
  SPECLAB_DEVICE void keep(std::int32_t tile, const LaneCells<T>& own) {
    own.leave(of + (tile >> cluster_shift()) * cells);
  }
  SPECLAB_DEVICE float at(std::int32_t tile, int i) const {
    return of[(tile >> cluster_shift()) * cells + i];
  }
};

/// The sums that the blocks of a cluster exchange. Two row pairs take turns, so that one barrier per pair is
/// enough; each has parts for the draft's tiles, then for the target's.
struct ClusterSums {
  PartialSum parts[2][2][max_tiles];
  PartialSumScratch scratch[2][2];  ///< two tiles take turns likewise
};

/// Does what `warp_part` does, for a tile that `sum_row_pair` has sent to its place as far as it could. Steps
/// are looped, not unrolled: a block runs them so seldom that fetching instructions takes most of the time.
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
  const float reference = largest.reference_of_warp();
  SumOfThread<T> sum;
  SPECLAB_ROLLED
  for (int step = 0; step < steps; ++step) sum.take(copy[step * tile_threads], row.scale.scale, reference);
  return sum.of_warp(reference);
}

/// Sums those rows of a pair that are `wanted` (the draft's, the target's); `row_at(of_target)` returns a row
/// by `copied_row`. Meanwhile the next tile of both rows is being loaded. All blocks of a cluster call it,
/// each for its tiles; it ends with `cluster_sync`.
template <class RowAt>
SPECLAB_DEVICE void sum_row_pair(std::int32_t tiles, int turn, const bool (&wanted)[2], const RowAt& row_at,
                                 ClusterSums& sums) {
  // The draft's and the target's row go through one loop that is not unrolled: a block runs it so seldom that
  // fetching its instructions takes most of the time.
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
    // One warp merges each row.
    each_wanted([&](int side, const auto& row) {
      if (warp != side) return;
      tell_cluster(sums.parts[turn][side][tile], merged_part(sums.scratch[scratch_turn][side], row.scale));
    });
    scratch_turn ^= 1;
  }
  simt::cluster_sync();
}

}  // namespace speclab

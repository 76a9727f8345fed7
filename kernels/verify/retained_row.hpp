// A row that stays in shared memory once it was read, so that a cluster weighs it without reading it again,
// and how the blocks of a cluster sum a row pair.
#pragma once

#include "kernels/verify/weights.hpp"

namespace speclab {

/// A row, and a block's copy of its tiles as they are when complete. Each thread reads back what it wrote
/// itself. `copies`: whether tiles that are not kept are copied as they are read.
template <class Row, bool copies = true>
struct RetainedRow : Row {
  simt::Vector16* place = nullptr;  ///< of the copy; null: there is none, and the row is read again
  int blocks = 1;                   ///< of the cluster: tile t is number t / blocks of its block
  bool kept = false;                ///< whether the copy is there; always, where none is made

  SPECLAB_DEVICE simt::Vector16 begin(std::int32_t tile, int step) const {
    return has_copy() ? *at(tile, step) : Row::begin(tile, step);
  }
  SPECLAB_DEVICE void complete(std::int32_t tile, int step, simt::Vector16& mine) const {
    if (has_copy()) return;
    Row::complete(tile, step, mine);
    if constexpr (copies) {
      if (place != nullptr) *at(tile, step) = mine;
    }
  }
  SPECLAB_DEVICE bool as_loaded(std::int32_t tile) const {
    return has_copy() || ((!copies || place == nullptr) && Row::as_loaded(tile));
  }

 private:
  using Shape = TileShape<typename Row::Logit>;

  SPECLAB_DEVICE bool has_copy() const {
    if constexpr (copies) return kept;
    return place != nullptr;
  }
  /// Target and draft take turns.
  SPECLAB_DEVICE simt::Vector16* at(std::int32_t tile, int step) const {
    return place + (tile / blocks * 2 * Shape::steps + step) * tile_threads + simt::thread_index();
  }
};

/// The row, with a block's copy in dynamic shared memory; `keeps`: whether there is room for one.
template <bool copies = true, class Row>
SPECLAB_DEVICE RetainedRow<Row, copies> retained_row(const Row& row, bool of_target, bool keeps, bool kept) {
  constexpr int side = TileShape<typename Row::Logit>::steps * tile_threads;
  auto* const place = keeps ? reinterpret_cast<simt::Vector16*>(simt::dynamic_shared()) : nullptr;
  return {row, place == nullptr || of_target ? place : place + side, simt::cluster_size(), keeps && kept};
}

/// Leaves a value that the first threads of a block have in `slot` of every block of the cluster.
template <class Value>
SPECLAB_DEVICE void tell_cluster(Value& slot, const Value& value) {
  if (simt::thread_index() < simt::cluster_size()) {
    *simt::cluster_shared(&slot, simt::thread_index()) = value;
  }
}

/// The cells of the tiles that a block of a cluster weighed last.
template <class T>
struct OwnCells {
  static constexpr int cells = TileShape<T>::cells;
  float of[max_tiles / simt::max_cluster_blocks * cells];

  /// By the first warp.
  SPECLAB_DEVICE void keep(std::int32_t tile, const LaneCells<T>& own) {
    own.leave(of + tile / simt::cluster_size() * cells);
  }
  SPECLAB_DEVICE float at(std::int32_t tile, int i) const {
    return of[tile / simt::cluster_size() * cells + i];
  }
};

/// What the blocks of a cluster know of two row pairs in turn, so that one barrier a pair is enough; of each
/// the draft's tiles, then the target's.
struct ClusterSums {
  PartialSum parts[2][2][max_tiles];
  PartialSumScratch scratch[2];
};

/// Sums those rows of a pair that are `wanted`, the draft's and the target's; `row_at(of_target)` gives one.
/// All blocks of a cluster, each with its tiles; ends with `cluster_sync`.
template <class RowAt>
SPECLAB_DEVICE void sum_row_pair(std::int32_t tiles, int turn, const bool (&wanted)[2], const RowAt& row_at,
                                 ClusterSums& sums) {
  const auto sum_tile = [&](bool of_target, std::int32_t tile) {
    const auto row = row_at(of_target);
    tell_cluster(sums.parts[turn][of_target][tile],
                 tile_part(whole_tile(row, tile), row.scale, sums.scratch[of_target]));
  };
  for (std::int32_t tile = simt::cluster_rank(); tile < tiles; tile += simt::cluster_size()) {
    if (wanted[true]) sum_tile(true, tile);
    if (wanted[false]) sum_tile(false, tile);
    simt::sync();
  }
  simt::cluster_sync();
}

}  // namespace speclab

// A row that stays in shared memory once it was read, so that a cluster weighs it without reading it again.
#pragma once

#include "kernels/verify/tile.hpp"

namespace speclab {

/// A row, and a block's copy of its tiles as they are when complete. Each thread reads back what it wrote
/// itself.
template <class Row>
struct RetainedRow : Row {
  using Held = HeldTile<typename Row::Logit>;

  simt::Vector16* place = nullptr;  ///< null: nothing is stored, and the row is read again
  int blocks = 1;                   ///< of the cluster: tile t is number t / blocks of its block

  SPECLAB_DEVICE Held begin(std::int32_t tile) const {
    if (place == nullptr) return Row::begin(tile);
    Held mine;
    SPECLAB_UNROLL
    for (int s = 0; s < Shape::steps; ++s) mine.vectors[s] = *at(tile, s);
    return mine;
  }
  SPECLAB_DEVICE void complete(std::int32_t tile, Held& mine) const {
    if (place == nullptr) Row::complete(tile, mine);
  }
  SPECLAB_DEVICE void keep(std::int32_t tile, const Held& mine) const {
    if (place == nullptr) return;
    SPECLAB_UNROLL
    for (int s = 0; s < Shape::steps; ++s) *at(tile, s) = mine.vectors[s];
  }

 private:
  using Shape = TileShape<typename Row::Logit>;

  /// Target and draft take turns.
  SPECLAB_DEVICE simt::Vector16* at(std::int32_t tile, int step) const {
    return place + (tile / blocks * 2 * Shape::steps + step) * tile_threads + simt::thread_index();
  }
};

}  // namespace speclab

// A tile: consecutive ids of a row, on which one block works. The logits' format alone decides which thread
// holds which id (tile_shape.hpp), and sums are merged in one order, so that a result has the same bits
// wherever it is computed.
#pragma once

#include <cstdint>

#include "kernels/simt/collectives.hpp"
#include "kernels/verify/tile_shape.hpp"

namespace speclab {

/// Rows are read step by step, or by whole tiles, whose loads are all in flight before the first is used.
/// Each `Row` has
///     begin(tile, step)            starts a step's load
///     complete(tile, step, mine)   turns the loaded values into the logits of the distribution
///     as_loaded(tile)              returns whether there is nothing to complete
template <class Row>
SPECLAB_DEVICE auto begin_tile(const Row& row, std::int32_t tile) {
  HeldTile<typename Row::Logit> mine;
  SPECLAB_UNROLL
  for (int s = 0; s < TileShape<typename Row::Logit>::steps; ++s) mine.vectors[s] = row.begin(tile, s);
  return mine;
}
template <class Row>
SPECLAB_DEVICE void complete_tile(const Row& row, std::int32_t tile, HeldTile<typename Row::Logit>& mine) {
  if (row.as_loaded(tile)) return;
  SPECLAB_UNROLL
  for (int s = 0; s < TileShape<typename Row::Logit>::steps; ++s) row.complete(tile, s, mine.vectors[s]);
}
template <class Row>
SPECLAB_DEVICE auto whole_tile(const Row& row, std::int32_t tile) {
  auto mine = begin_tile(row, tile);
  complete_tile(row, tile, mine);
  return mine;
}

/// Goes through a row's tile step by step and calls `visit(step, vector)`, while the next step is being
/// loaded.
template <class Row, class Visit>
SPECLAB_DEVICE void each_step(const Row& row, std::int32_t tile, const Visit& visit) {
  constexpr int steps = TileShape<typename Row::Logit>::steps;
  simt::Vector16 following = row.begin(tile, 0);
  SPECLAB_ROLLED
  for (int s = 0; s < steps; ++s) {
    simt::Vector16 mine = following;
    if (s + 1 < steps) following = row.begin(tile, s + 1);
    row.complete(tile, s, mine);
    visit(s, mine);
  }
}

/// Merges two parts into one, whichever is named first. The bits must not depend on the order, or blocks of a
/// cluster could deadlock: each branches on sums that it has reduced itself, lane beside lane, and blocks
/// that disagree by one bit wait at different barriers. So these products must not be contracted with their
/// sum, which would round one of them and not the other: nvcc has --fmad=false, the host -ffp-contract=off.
SPECLAB_HD inline PartialSum merge(const PartialSum& a, const PartialSum& b, float scale) {
  if (a.sum == 0) return b;
  if (b.sum == 0) return a;
  const float reference = a.reference > b.reference ? a.reference : b.reference;
  return {reference, a.sum * relative_weight(a.reference, scale, reference) +
                         b.sum * relative_weight(b.reference, scale, reference)};
}

/// Scratch for a block's reduction of weights.
struct PartialSumScratch {
  PartialSum of_warp[tile_warps];
};

/// Writes a warp's part for `merged_part`.
SPECLAB_DEVICE inline void leave_part(const PartialSum& of_warp, PartialSumScratch& scratch) {
  if (simt::thread_index() % simt::warp_size == 0)
    scratch.of_warp[simt::thread_index() / simt::warp_size] = of_warp;
}
/// Merges the parts of a block's warps. One warp calls it, after the block has waited for all of them.
template <class Combine>
SPECLAB_DEVICE PartialSum merged_part(const PartialSumScratch& scratch, const Combine& combine) {
  PartialSum all = scratch.of_warp[simt::thread_index() % tile_warps];
  for (int mask = tile_warps / 2; mask > 0; mask /= 2)
    all = combine(all, {simt::shuffle_xor(all.reference, mask), simt::shuffle_xor(all.sum, mask)});
  return all;
}
/// Returns the reference of weights whose largest logit is `largest`. If all are 0, any finite one will do.
SPECLAB_HD inline float reference_of(float largest) { return largest > -INFINITY ? largest : 0.0F; }

/// Finds the largest of the logits that a thread holds, step by step.
template <class T>
struct LargestOfThread {
  float largest = -INFINITY;

  SPECLAB_DEVICE void take(const simt::Vector16& mine) {
    SPECLAB_UNROLL
    for (int k = 0; k < TileShape<T>::width; ++k) largest = fmaxf(largest, logit_in<T>(mine, k));
  }
  SPECLAB_DEVICE float reference_of_warp() const {
    return reference_of(simt::warp_reduce(largest, [](float a, float b) { return fmaxf(a, b); }));
  }
};
/// Sums the weights that a thread holds, step by step.
template <class T>
struct SumOfThread {
  float sums[4] = {0, 0, 0, 0};

  SPECLAB_DEVICE void take(const simt::Vector16& mine, float scale, float reference) {
    SPECLAB_UNROLL
    for (int k = 0; k < TileShape<T>::width; ++k)
      sums[k % 4] += relative_weight(logit_in<T>(mine, k), scale, reference);
  }
  SPECLAB_DEVICE PartialSum of_warp(float reference) const {
    const float sum = simt::warp_sum((sums[0] + sums[1]) + (sums[2] + sums[3]));
    return {sum == 0 ? -INFINITY : reference, sum};
  }
};

/// Returns the sum of the weights that a warp holds of a tile.
template <class T>
SPECLAB_DEVICE PartialSum warp_partial_sum(const HeldTile<T>& mine, float scale) {
  LargestOfThread<T> largest;
  SPECLAB_UNROLL
  for (int s = 0; s < TileShape<T>::steps; ++s) largest.take(mine.vectors[s]);
  const float reference = largest.reference_of_warp();
  SumOfThread<T> sum;
  SPECLAB_UNROLL
  for (int s = 0; s < TileShape<T>::steps; ++s) sum.take(mine.vectors[s], scale, reference);
  return sum.of_warp(reference);
}

/// Returns the higher of two tops (see TopOfThread); of equally high ones that with the lower place.
SPECLAB_HD inline PartialSum higher(const PartialSum& a, const PartialSum& b) {
  if (a.sum != a.sum) return a;
  if (b.sum != b.sum) return b;
  if (a.reference == b.reference) return a.sum < b.sum ? a : b;
  return a.reference > b.reference ? a : b;
}

/// Finds a thread's share of a tile's top. In a row where the lowest id with the largest logit has all
/// probability, a tile's top is the tile's largest logit and 1 + the place of its lowest id in the tile;
/// {-inf, 0} for a tile without ids; NaN in an invalid row.
template <class T>
struct TopOfThread {
  PartialSum top{-INFINITY, 0};
  bool invalid = false;

  SPECLAB_DEVICE void take(int step, const simt::Vector16& mine) {
    SPECLAB_UNROLL
    for (int k = 0; k < TileShape<T>::width; ++k) {
      const float logit = logit_in<T>(mine, k);
      invalid = invalid || !(logit < INFINITY);
      const std::int32_t place = TileShape<T>::first(0, step, simt::thread_index()) + k;
      if (logit > top.reference) top = {logit, static_cast<float>(place + 1)};
    }
  }
  /// Returns the top of the warp.
  SPECLAB_DEVICE PartialSum of_warp() {
    if (invalid) top.sum = NAN;
    for (int mask = simt::warp_size / 2; mask > 0; mask /= 2)
      top = higher(top, {simt::shuffle_xor(top.reference, mask), simt::shuffle_xor(top.sum, mask)});
    return top;
  }
};

/// Compute what a tile adds to its row's sum: `warp_part` the share of one warp, `merged_part` the sum of
/// these shares for the block. One warp calls `merged_part`.
template <class T>
SPECLAB_DEVICE PartialSum warp_part(const HeldTile<T>& mine, const RowScale& scale) {
  if (!scale.lowest()) return warp_partial_sum(mine, scale.scale);
  TopOfThread<T> top;
  SPECLAB_UNROLL
  for (int s = 0; s < TileShape<T>::steps; ++s) top.take(s, mine.vectors[s]);
  return top.of_warp();
}
SPECLAB_DEVICE inline PartialSum merged_part(const PartialSumScratch& scratch, const RowScale& scale) {
  if (scale.lowest()) return merged_part(scratch, higher);
  return merged_part(scratch,
                     [&](const PartialSum& a, const PartialSum& b) { return merge(a, b, scale.scale); });
}
/// Merges the parts of a block's warps, and returns the result to the first warp. It calls `sync` once; the
/// caller must before the scratch is used again. `how` is a RowScale, or merges two parts.
template <class How>
SPECLAB_DEVICE PartialSum part_of_block(const PartialSum& of_warp, PartialSumScratch& scratch,
                                        const How& how) {
  leave_part(of_warp, scratch);
  simt::sync();
  if (simt::thread_index() >= simt::warp_size) return {-INFINITY, 0};
  return merged_part(scratch, how);
}
/// Returns what a tile adds to its row's sum, like `part_of_block`.
template <class T>
SPECLAB_DEVICE PartialSum tile_part(const HeldTile<T>& mine, const RowScale& scale,
                                    PartialSumScratch& scratch) {
  return part_of_block(warp_part(mine, scale), scratch, scale);
}

/// Returns the top of a row's tile that no thread holds yet.
template <class Row>
SPECLAB_DEVICE PartialSum row_top(const Row& row, std::int32_t tile, PartialSumScratch& scratch) {
  TopOfThread<typename Row::Logit> top;
  each_step(row, tile, [&top](int step, const simt::Vector16& mine) { top.take(step, mine); });
  return part_of_block(top.of_warp(), scratch, higher);
}

/// Merges the parts of a row's tiles to log2 of its total weight. One warp calls it; lanes take tiles in turn
/// and all get the same result. A lane reads its first tile only once, since the warp waits for that read.
template <class Tiles>
SPECLAB_DEVICE LogSum merge_tiles(std::int32_t tiles, float scale, const Tiles& tile_at) {
  const int lane = simt::thread_index() % simt::warp_size;
  const PartialSum own = lane < tiles ? tile_at(lane) : PartialSum{-INFINITY, 0};
  float reference = own.reference;
  SPECLAB_ROLLED
  for (std::int32_t t = lane + simt::warp_size; t < tiles; t += simt::warp_size)
    reference = fmaxf(reference, tile_at(t).reference);
  reference = simt::warp_reduce(reference, [](float a, float b) { return fmaxf(a, b); });
  double sum = 0;
  SPECLAB_ROLLED
  for (std::int32_t t = lane; t < tiles; t += simt::warp_size) {
    const PartialSum part = t == lane ? own : tile_at(t);
    if (part.sum != 0)
      sum += static_cast<double>(part.sum) *
             static_cast<double>(relative_weight(part.reference, scale, reference));
  }
  sum = simt::warp_sum(sum);
  // A sum of 0 or +inf makes the row invalid, as NaN does.
  if (!(sum > 0) || !(sum - sum == 0) || !(reference < INFINITY)) return {};
  return {reference, no_token, log2(sum)};
}

/// Finds the one id that has all probability of a row, from its tiles' tops (PartialSum or TileWeightSum), in
/// the same way.
template <class Tiles>
SPECLAB_DEVICE LogSum merge_tops(std::int32_t tiles, const Tiles& tile_at) {
  const int lane = simt::thread_index() % simt::warp_size;
  float largest = -INFINITY;
  bool invalid = false;
  SPECLAB_ROLLED
  for (std::int32_t t = lane; t < tiles; t += simt::warp_size) {
    const auto part = tile_at(t);
    invalid = invalid || part.sum != part.sum;
    largest = fmaxf(largest, part.reference);
  }
  largest = simt::warp_reduce(largest, [](float a, float b) { return fmaxf(a, b); });
  Token lowest = max_vocab;
  SPECLAB_ROLLED
  for (std::int32_t t = lane; t < tiles; t += simt::warp_size) {
    const auto part = tile_at(t);
    if (part.reference != largest || !(part.sum > 0)) continue;
    const Token id = t * tile_size + static_cast<std::int32_t>(part.sum) - 1;
    lowest = id < lowest ? id : lowest;
  }
  lowest = simt::warp_reduce(lowest, [](Token a, Token b) { return a < b ? a : b; });
  if (simt::ballot(invalid) != 0 || lowest == max_vocab) return {};
  return {largest, lowest, 0};
}

}  // namespace speclab

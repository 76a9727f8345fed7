// A tile: consecutive ids of a row, on which one block works. The logits' format alone decides which thread
// holds which id, and sums are merged in one order, so that a result has the same bits wherever it is
// computed.
#pragma once

#include <cstdint>
#include <type_traits>

#include "kernels/simt/collectives.hpp"
#include "kernels/verify/row_distribution.hpp"

namespace speclab {

inline constexpr int tile_size = 8192;
inline constexpr int tile_threads = 256;
inline constexpr int tile_warps = tile_threads / simt::warp_size;
/// Number of a tile's logits that one thread holds.
inline constexpr int held = tile_size / tile_threads;
inline constexpr std::int32_t max_tiles = max_vocab / tile_size;

SPECLAB_HD inline std::int32_t tiles_of(std::int32_t vocab) { return (vocab + tile_size - 1) / tile_size; }

/// The request, position and tile of a block, where blocks are [requests, positions, tiles].
struct BlockPlace {
  std::int64_t request;
  std::int32_t position;
  std::int32_t tile;
};

/// Returns the place of this block. It divides in 32 bits, since a launch has no more blocks: a division in
/// 64 bits takes a hundred instructions.
SPECLAB_DEVICE inline BlockPlace block_place(std::int32_t positions, std::int32_t tiles) {
  const auto block = static_cast<std::uint32_t>(simt::block_index());
  const std::uint32_t row = block / static_cast<std::uint32_t>(tiles);
  const std::uint32_t request = row / static_cast<std::uint32_t>(positions);
  return {std::int64_t{request},
          static_cast<std::int32_t>(row - request * static_cast<std::uint32_t>(positions)),
          static_cast<std::int32_t>(block - row * static_cast<std::uint32_t>(tiles))};
}

/// The order in which threads hold a tile: in each of `steps` steps a thread takes the `width` logits of one
/// 16-byte load, next to its neighbours'.
template <class T>
struct TileShape {
  static constexpr int width = static_cast<int>(16 / sizeof(T));
  static constexpr int step = tile_threads * width;
  static constexpr int steps = tile_size / step;
  /// A cell is the part of a tile that a warp holds in one step; cells follow one another in the order of
  /// ids.
  static constexpr int cells = steps * tile_warps;
  static constexpr int lane_cells = cells / simt::warp_size;

  /// Returns the first id that a thread holds in a step.
  SPECLAB_HD static std::int32_t first(std::int32_t tile, int in_step, int thread) {
    return tile * tile_size + in_step * step + thread * width;
  }
};

template <class T>
SPECLAB_DEVICE T load_one(const T* address) {
  if constexpr (sizeof(T) == 4) {
    return simt::load(address);
  } else {
    return T{simt::load(&address->bits)};
  }
}
template <class T>
SPECLAB_DEVICE T load_cached(const T* address) {
  if constexpr (sizeof(T) == 4) {
    return simt::load_cached(address);
  } else {
    return T{simt::load_cached(&address->bits)};
  }
}

/// Returns logit k of a 16-byte load.
template <class T>
SPECLAB_HD float logit_in(const simt::Vector16& vector, int k) {
  if constexpr (sizeof(T) == 4) {
    return float_of_bits(vector.word[k]);
  } else {
    const std::uint32_t word = vector.word[k / 2];
    // A bf16 is the upper half of a float.
    if constexpr (std::is_same_v<T, Bf16>)
      return float_of_bits(k % 2 == 0 ? word << 16U : word & 0xffff0000U);
    return to_float(T{static_cast<std::uint16_t>(k % 2 == 0 ? word & 0xffffU : word >> 16U)});
  }
}
template <class T>
SPECLAB_HD void set_logit(simt::Vector16& vector, int k, T logit) {
  if constexpr (sizeof(T) == 4) {
    vector.word[k] = bits_of_float(logit);
  } else {
    const std::uint32_t bits = logit.bits;
    std::uint32_t& word = vector.word[k / 2];
    word = k % 2 == 0 ? (word & 0xffff0000U) | bits : (word & 0xffffU) | bits << 16U;
  }
}

/// This thread's part of a tile, as it lies in memory: logit k of step s is at s * width + k.
template <class T>
struct HeldTile {
  simt::Vector16 vectors[TileShape<T>::steps];

  SPECLAB_HD float logit(int i) const {
    return logit_in<T>(vectors[i / TileShape<T>::width], i % TileShape<T>::width);
  }
};

/// A number for each id that this thread holds, in the same order.
struct HeldWeights {
  float weight[held];
};

/// Returns whether 16-byte loads are allowed.
template <class T>
SPECLAB_HD bool in_vectors(const T* row) {
  return reinterpret_cast<std::uintptr_t>(row) % 16 == 0;
}

/// Loads this thread's part of a step of a tile. Where no whole vector lies in the row (beyond the
/// vocabulary, or before `rest_of_step` is called), logits are minus infinity.
template <class T>
SPECLAB_DEVICE simt::Vector16 load_step(const T* row, std::int32_t vocab, std::int32_t tile, int step) {
  using Shape = TileShape<T>;
  // All steps share one address; the compiler knows the distances between them when it unrolls them.
  const T* const of_thread = row + Shape::first(tile, 0, simt::thread_index());
  simt::Vector16 mine{};
  SPECLAB_UNROLL
  for (int k = 0; k < Shape::width; ++k) set_logit<T>(mine, k, from_float<T>(-INFINITY));
  if (in_vectors(row) && Shape::first(tile, step, simt::thread_index()) + Shape::width <= vocab) {
    mine = simt::load(reinterpret_cast<const simt::Vector16*>(of_thread + step * Shape::step));
  }
  return mine;
}

/// Loads one by one the logits of a step that no 16-byte vector covers: the end of a row whose length vectors
/// do not divide, or all of a row that is not aligned to 16 bytes. These logits share sectors, and so are
/// loaded through the L1 cache.
template <class T>
SPECLAB_DEVICE void rest_of_step(const T* row, std::int32_t vocab, std::int32_t tile, int step,
                                 simt::Vector16& mine) {
  using Shape = TileShape<T>;
  const std::int32_t first = Shape::first(tile, step, simt::thread_index());
  if (in_vectors(row) && first + Shape::width <= vocab) return;
  SPECLAB_UNROLL
  for (int k = 0; k < Shape::width; ++k) {
    if (first + k < vocab) set_logit<T>(mine, k, load_cached(row + first + k));
  }
}

/// Returns whether vectors hold all of a tile.
template <class T>
SPECLAB_DEVICE bool vectors_hold(const T* row, std::int32_t vocab, std::int32_t tile) {
  return in_vectors(row) && ((tile + 1) * tile_size <= vocab || vocab % TileShape<T>::width == 0);
}

/// Sets logits below the cut-off to minus infinity.
template <class T>
SPECLAB_DEVICE void cut_step(simt::Vector16& mine, float cutoff) {
  if (!(cutoff > -INFINITY)) return;
  SPECLAB_UNROLL
  for (int k = 0; k < TileShape<T>::width; ++k) {
    if (logit_in<T>(mine, k) < cutoff) set_logit<T>(mine, k, from_float<T>(-INFINITY));
  }
}

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
SPECLAB_HD inline PartialSum merge(const PartialSum& a, const PartialSum& b) {
  if (a.sum == 0) return b;
  if (b.sum == 0) return a;
  const float reference = a.reference > b.reference ? a.reference : b.reference;
  return {reference,
          a.sum * power_of_two(a.reference - reference) + b.sum * power_of_two(b.reference - reference)};
}

/// Scratch for a block's reduction of weights.
struct PartialSumScratch {
  PartialSum of_warp[tile_warps];
};

/// Writes a warp's part for `merged_part`.
SPECLAB_DEVICE inline void leave_part(const PartialSum& of_warp, PartialSumScratch& scratch) {
  if (simt::thread_index() % simt::warp_size == 0) {
    scratch.of_warp[simt::thread_index() / simt::warp_size] = of_warp;
  }
}
/// Merges the parts of a block's warps. One warp calls it, after the block has waited for all of them.
template <class Combine>
SPECLAB_DEVICE PartialSum merged_part(const PartialSumScratch& scratch, const Combine& combine) {
  PartialSum all = scratch.of_warp[simt::thread_index() % tile_warps];
  for (int mask = tile_warps / 2; mask > 0; mask /= 2) {
    all = combine(all, {simt::shuffle_xor(all.reference, mask), simt::shuffle_xor(all.sum, mask)});
  }
  return all;
}
/// Does both in one call, and returns the part to the first warp. It calls `sync` once; the caller must
/// before the scratch is used again.
template <class Combine>
SPECLAB_DEVICE PartialSum part_of_block(const PartialSum& of_warp, PartialSumScratch& scratch,
                                        const Combine& combine) {
  leave_part(of_warp, scratch);
  simt::sync();
  if (simt::thread_index() >= simt::warp_size) return {-INFINITY, 0};
  return merged_part(scratch, combine);
}

/// Returns the reference of weights whose largest logit is `largest`: a whole number, so that powers of the
/// differences of references are exact. If all weights are 0, every term is 0 for any finite reference; NaN
/// stays NaN.
SPECLAB_HD inline float reference_of(float largest, float scale) {
  return largest > -INFINITY ? ceilf(largest * scale) : 0.0F;
}

/// Finds the largest of the logits that a thread holds, step by step.
template <class T>
struct LargestOfThread {
  float largest = -INFINITY;

  SPECLAB_DEVICE void take(const simt::Vector16& mine) {
    SPECLAB_UNROLL
    for (int k = 0; k < TileShape<T>::width; ++k) largest = fmaxf(largest, logit_in<T>(mine, k));
  }
  SPECLAB_DEVICE float reference_of_warp(float scale) const {
    return reference_of(simt::warp_reduce(largest, [](float a, float b) { return fmaxf(a, b); }), scale);
  }
};
/// Sums the weights that a thread holds, step by step.
template <class T>
struct SumOfThread {
  float sums[4] = {0, 0, 0, 0};

  SPECLAB_DEVICE void take(const simt::Vector16& mine, float scale, float reference) {
    SPECLAB_UNROLL
    for (int k = 0; k < TileShape<T>::width; ++k) {
      sums[k % 4] += relative_weight(logit_in<T>(mine, k), scale, reference);
    }
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
  const float reference = largest.reference_of_warp(scale);
  SumOfThread<T> sum;
  SPECLAB_UNROLL
  for (int s = 0; s < TileShape<T>::steps; ++s) sum.take(mine.vectors[s], scale, reference);
  return sum.of_warp(reference);
}
/// Returns the sum of a tile's weights to the first warp; `sync` as for `part_of_block`.
template <class T>
SPECLAB_DEVICE PartialSum tile_partial_sum(const HeldTile<T>& mine, float scale, PartialSumScratch& scratch) {
  return part_of_block(warp_partial_sum(mine, scale), scratch, merge);
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
    for (int mask = simt::warp_size / 2; mask > 0; mask /= 2) {
      top = higher(top, {simt::shuffle_xor(top.reference, mask), simt::shuffle_xor(top.sum, mask)});
    }
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
  return scale.lowest() ? merged_part(scratch, higher) : merged_part(scratch, merge);
}
/// Does both, and returns the part to the first warp; `sync` as for `part_of_block`.
template <class T>
SPECLAB_DEVICE PartialSum tile_part(const HeldTile<T>& mine, const RowScale& scale,
                                    PartialSumScratch& scratch) {
  leave_part(warp_part(mine, scale), scratch);
  simt::sync();
  if (simt::thread_index() >= simt::warp_size) return {-INFINITY, 0};
  return merged_part(scratch, scale);
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
SPECLAB_DEVICE LogSum merge_tiles(std::int32_t tiles, const Tiles& tile_at) {
  const int lane = simt::thread_index() % simt::warp_size;
  const PartialSum own = lane < tiles ? tile_at(lane) : PartialSum{-INFINITY, 0};
  float reference = own.reference;
  SPECLAB_ROLLED
  for (std::int32_t t = lane + simt::warp_size; t < tiles; t += simt::warp_size) {
    reference = fmaxf(reference, tile_at(t).reference);
  }
  reference = simt::warp_reduce(reference, [](float a, float b) { return fmaxf(a, b); });
  double sum = 0;
  SPECLAB_ROLLED
  for (std::int32_t t = lane; t < tiles; t += simt::warp_size) {
    const PartialSum part = t == lane ? own : tile_at(t);
    if (part.sum != 0)
      sum += static_cast<double>(part.sum) * static_cast<double>(power_of_two(part.reference - reference));
  }
  sum = simt::warp_sum(sum);
  // A sum of 0 or +inf makes the row invalid, as NaN does.
  if (!(sum > 0) || !(sum - sum == 0) || !(reference < INFINITY)) return {};
  return {reference, no_token, log2(sum)};
}

/// Finds the one id that has all probability of a row, from its tiles' tops, in the same way.
template <class Tiles>
SPECLAB_DEVICE LogSum merge_tops(std::int32_t tiles, const Tiles& tile_at) {
  const int lane = simt::thread_index() % simt::warp_size;
  float largest = -INFINITY;
  bool invalid = false;
  for (std::int32_t t = lane; t < tiles; t += simt::warp_size) {
    const PartialSum part = tile_at(t);
    invalid = invalid || part.sum != part.sum;
    largest = fmaxf(largest, part.reference);
  }
  largest = simt::warp_reduce(largest, [](float a, float b) { return fmaxf(a, b); });
  Token lowest = max_vocab;
  for (std::int32_t t = lane; t < tiles; t += simt::warp_size) {
    const PartialSum part = tile_at(t);
    if (part.reference != largest || !(part.sum > 0)) continue;
    const Token id = t * tile_size + static_cast<std::int32_t>(part.sum) - 1;
    lowest = id < lowest ? id : lowest;
  }
  lowest = simt::warp_reduce(lowest, [](Token a, Token b) { return a < b ? a : b; });
  if (simt::ballot(invalid) != 0 || lowest == max_vocab) return {};
  return {largest, lowest, 0};
}

}  // namespace speclab

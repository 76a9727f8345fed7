// A tile: the stretch of a row that one block works on. Which thread holds which id depends on the logits'
// format alone, and sums are merged in one order, so that a result has the same bits wherever it is computed.
#pragma once

#include <cstdint>
#include <type_traits>

#include "kernels/simt/collectives.hpp"
#include "kernels/verify/row_distribution.hpp"

namespace speclab {

inline constexpr int tile_size = 8192;
inline constexpr int tile_threads = 256;
inline constexpr int tile_warps = tile_threads / simt::warp_size;
/// Logits of a tile that one thread holds.
inline constexpr int held = tile_size / tile_threads;
inline constexpr std::int32_t most_tiles = most_vocab / tile_size;

SPECLAB_HD inline std::int32_t tiles_of(std::int32_t vocab) { return (vocab + tile_size - 1) / tile_size; }

/// What a block works on where blocks are [requests, positions, tiles].
struct BlockPlace {
  std::int64_t request;
  std::int32_t position;
  std::int32_t tile;
};

/// In 32 bits, as a launch has no more blocks: a division of 64 bits takes a hundred instructions.
SPECLAB_DEVICE inline BlockPlace block_place(std::int32_t positions, std::int32_t tiles) {
  const auto block = static_cast<std::uint32_t>(simt::block_index());
  const std::uint32_t row = block / static_cast<std::uint32_t>(tiles);
  const std::uint32_t request = row / static_cast<std::uint32_t>(positions);
  return {std::int64_t{request},
          static_cast<std::int32_t>(row - request * static_cast<std::uint32_t>(positions)),
          static_cast<std::int32_t>(block - row * static_cast<std::uint32_t>(tiles))};
}

/// In each of `steps` steps a thread takes the `width` logits of one 16-byte load, next to its neighbours'.
template <class T>
struct TileShape {
  static constexpr int width = static_cast<int>(16 / sizeof(T));
  static constexpr int step = tile_threads * width;
  static constexpr int steps = tile_size / step;

  /// The first id that a thread holds of a step.
  SPECLAB_HD static std::int32_t first(std::int32_t tile, int in_step, int thread) {
    return tile * tile_size + in_step * step + thread * width;
  }
};

/// What this thread holds of a tile: logit k of step s is at s * width + k.
struct HeldLogits {
  float logit[held];
};

template <class T>
SPECLAB_DEVICE void unpack(const simt::Vector16& vector, float* logits) {
  constexpr int width = TileShape<T>::width;
  SPECLAB_UNROLL
  for (int k = 0; k < width; ++k) {
    if constexpr (sizeof(T) == 4) {
      logits[k] = float_of_bits(vector.word[k]);
    } else if constexpr (std::is_same_v<T, Bf16>) {
      // The upper half of a float is what a bf16 is.
      const std::uint32_t word = vector.word[k / 2];
      logits[k] = float_of_bits(k % 2 == 0 ? word << 16U : word & 0xffff0000U);
    } else {
      const std::uint32_t word = vector.word[k / 2];
      logits[k] = to_float(T{static_cast<std::uint16_t>(k % 2 == 0 ? word & 0xffffU : word >> 16U)});
    }
  }
}

/// The other way round; exact for logits that came out of `unpack`.
template <class T>
SPECLAB_DEVICE simt::Vector16 pack(const float* logits) {
  simt::Vector16 vector{};
  SPECLAB_UNROLL
  for (int k = 0; k < TileShape<T>::width; ++k) {
    if constexpr (sizeof(T) == 4) {
      vector.word[k] = bits_of_float(logits[k]);
    } else {
      vector.word[k / 2] |= std::uint32_t{from_float<T>(logits[k]).bits} << (k % 2 == 0 ? 0U : 16U);
    }
  }
  return vector;
}

template <class T>
SPECLAB_DEVICE T load_one(const T* address) {
  if constexpr (sizeof(T) == 4) {
    return simt::load(address);
  } else {
    return T{simt::load(&address->bits)};
  }
}

/// This thread's logits of a tile at a row's end or off 16-byte alignment: one by one where a vector does not
/// go. Ids beyond the vocabulary get minus infinity.
template <class T>
SPECLAB_DEVICE void load_rest(const T* row, std::int32_t vocab, std::int32_t tile, bool aligned,
                              HeldLogits& mine) {
  using Shape = TileShape<T>;
  constexpr int width = Shape::width;
  SPECLAB_UNROLL
  for (int s = 0; s < Shape::steps; ++s) {
    const std::int32_t first = Shape::first(tile, s, simt::thread_index());
    if (aligned && first + width <= vocab) {
      unpack<T>(simt::load(reinterpret_cast<const simt::Vector16*>(row + first)), &mine.logit[s * width]);
      continue;
    }
    SPECLAB_UNROLL
    for (int k = 0; k < width; ++k) {
      mine.logit[s * width + k] = first + k < vocab ? to_float(load_one(row + first + k)) : -INFINITY;
    }
  }
}

/// This thread's part of a tile. Ids beyond the vocabulary or below the cut-off get minus infinity.
template <class T>
SPECLAB_DEVICE HeldLogits load_tile(const T* row, std::int32_t vocab, std::int32_t tile, float cutoff) {
  using Shape = TileShape<T>;
  HeldLogits mine;
  const bool aligned = reinterpret_cast<std::uintptr_t>(row) % 16 == 0;
  if (aligned && (tile + 1) * tile_size <= vocab) {
    // All loads are on their way before the first is used.
    simt::Vector16 vectors[Shape::steps];
    SPECLAB_UNROLL
    for (int s = 0; s < Shape::steps; ++s) {
      vectors[s] = simt::load(
          reinterpret_cast<const simt::Vector16*>(row + Shape::first(tile, s, simt::thread_index())));
    }
    SPECLAB_UNROLL
    for (int s = 0; s < Shape::steps; ++s) unpack<T>(vectors[s], &mine.logit[s * Shape::width]);
  } else {
    load_rest(row, vocab, tile, aligned, mine);
  }
  if (cutoff > -INFINITY) {
    SPECLAB_UNROLL
    for (int i = 0; i < held; ++i) {
      if (mine.logit[i] < cutoff) mine.logit[i] = -INFINITY;
    }
  }
  return mine;
}

/// Two parts as one, whichever is named first.
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

/// The sum of a tile's weights; the first warp gets it. `sync` before the scratch is used again.
SPECLAB_DEVICE inline PartialSum tile_partial_sum(const HeldLogits& mine, float scale,
                                                  PartialSumScratch& scratch) {
  float largest = mine.logit[0];
  SPECLAB_UNROLL
  for (int i = 1; i < held; ++i) largest = fmaxf(largest, mine.logit[i]);
  largest = simt::warp_reduce(largest, [](float a, float b) { return fmaxf(a, b); });

  // In a warp whose weights are all 0 every term is 0 for any finite reference, and NaN stays NaN.
  const float reference = largest > -INFINITY ? largest * scale : 0.0F;
  float sums[4] = {0, 0, 0, 0};
  SPECLAB_UNROLL
  for (int i = 0; i < held; ++i) sums[i % 4] += relative_weight(mine.logit[i], scale, reference);
  const float sum = simt::warp_sum((sums[0] + sums[1]) + (sums[2] + sums[3]));
  if (simt::thread_index() % simt::warp_size == 0) {
    scratch.of_warp[simt::thread_index() / simt::warp_size] = {sum == 0 ? -INFINITY : reference, sum};
  }
  simt::sync();
  if (simt::thread_index() >= simt::warp_size) return {-INFINITY, 0};
  PartialSum all = scratch.of_warp[simt::thread_index() % tile_warps];
  for (int mask = tile_warps / 2; mask > 0; mask /= 2) {
    all = merge(all, {simt::shuffle_xor(all.reference, mask), simt::shuffle_xor(all.sum, mask)});
  }
  return all;
}

/// log2 of a row's total weight from its tiles': by one warp, lane after lane, the same in all of them.
template <class Tiles>
SPECLAB_DEVICE LogSum merge_tiles(std::int32_t tiles, const Tiles& tile_at) {
  const int lane = simt::thread_index() % simt::warp_size;
  float reference = -INFINITY;
  for (std::int32_t t = lane; t < tiles; t += simt::warp_size)
    reference = fmaxf(reference, tile_at(t).reference);
  reference = simt::warp_reduce(reference, [](float a, float b) { return fmaxf(a, b); });
  double sum = 0;
  for (std::int32_t t = lane; t < tiles; t += simt::warp_size) {
    const PartialSum part = tile_at(t);
    if (part.sum != 0)
      sum += static_cast<double>(part.sum) * exp2(static_cast<double>(part.reference - reference));
  }
  sum = simt::warp_sum(sum);
  // A sum of 0 or +inf makes the row invalid, as NaN does.
  if (!(sum > 0) || !(sum - sum == 0) || !(reference < INFINITY)) return {};
  return {reference, log2(sum)};
}

}  // namespace speclab

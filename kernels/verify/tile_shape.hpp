// The shape of a tile: which thread holds which id, and how a thread loads its ids wherever the row begins.
//
// A row that is not aligned to 16 bytes begins `shift` ids after the start of a 16-byte vector of memory. A
// thread's ids then lie in two vectors that follow one another; the second is the first one of the next
// thread, and so comes from the L1 cache. It joins the two when it completes a step. Threads hold the same
// ids as in an aligned row, so that sums have the same bits.
#pragma once

#include <cstdint>
#include <type_traits>

#include "kernels/simt/simt.hpp"
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

/// Returns whether a row is aligned to 16 bytes.
template <class T>
SPECLAB_HD bool in_vectors(const T* row) {
  return reinterpret_cast<std::uintptr_t>(row) % 16 == 0;
}

/// Returns the number of ids between the start of a vector of `vector_bytes` and the row's first id.
SPECLAB_HD inline std::int32_t shift_of(const void* row, int id_bytes, int vector_bytes = 16) {
  const auto past = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(row)) %
                    static_cast<std::uint32_t>(vector_bytes);
  return static_cast<std::int32_t>(past / static_cast<std::uint32_t>(id_bytes));
}

/// Returns whether the vectors of `width` ids that hold the ids from `first` on lie in the row: one vector,
/// or two in a shifted row. So no vector is loaded that begins before the row or ends after it.
SPECLAB_HD inline bool vectors_hold(std::int32_t shift, std::int32_t first, int width, std::int32_t vocab) {
  if (shift == 0) return first + width <= vocab;
  return first > 0 && first - shift + 2 * width <= vocab;
}

/// Returns the 16 bytes from byte `offset` on of two vectors that follow one another. Only ids of 2 bytes can
/// begin inside a word.
template <int id_bytes>
SPECLAB_HD simt::Vector16 joined(const simt::Vector16& low, const simt::Vector16& high, std::int32_t offset) {
  std::uint32_t word[8];
  SPECLAB_UNROLL
  for (int i = 0; i < 4; ++i) {
    word[i] = low.word[i];
    word[i + 4] = high.word[i];
  }
  SPECLAB_UNROLL
  for (int i = 0; i < 6; ++i) word[i] = (offset & 8) != 0 ? word[i + 2] : word[i];
  SPECLAB_UNROLL
  for (int i = 0; i < 5; ++i) word[i] = (offset & 4) != 0 ? word[i + 1] : word[i];
  simt::Vector16 mine;
  SPECLAB_UNROLL
  for (int i = 0; i < 4; ++i) {
    mine.word[i] = word[i];
    if (id_bytes == 2) {
      const std::uint64_t both = std::uint64_t{word[i + 1]} << 32U | word[i];
      mine.word[i] = static_cast<std::uint32_t>(both >> (8U * (static_cast<std::uint32_t>(offset) & 2U)));
    }
  }
  return mine;
}

/// Drops the first id of a vector and puts a new one after the last. Loops over ids then need no registers
/// with an index.
template <class T>
SPECLAB_HD void append(simt::Vector16& mine, T logit) {
  SPECLAB_UNROLL
  for (int i = 0; i < 4; ++i) {
    std::uint32_t after;
    if constexpr (sizeof(T) == 4) {
      after = i < 3 ? mine.word[i + 1] : bits_of_float(logit);
      mine.word[i] = after;
    } else {
      after = i < 3 ? mine.word[i + 1] : logit.bits;
      mine.word[i] = mine.word[i] >> 16U | after << 16U;
    }
  }
}

/// Returns the address of the first vector that holds this thread's ids of a step; null if the vectors do not
/// lie in the row.
template <class T>
SPECLAB_DEVICE const simt::Vector16* first_vector(const T* row, std::int32_t vocab, std::int32_t tile,
                                                  int step) {
  using Shape = TileShape<T>;
  const std::int32_t shift = shift_of(row, sizeof(T));
  if (!vectors_hold(shift, Shape::first(tile, step, simt::thread_index()), Shape::width, vocab))
    return nullptr;
  // All steps share one address; the compiler knows the distances between them when it unrolls them.
  const T* const of_thread = row - shift + Shape::first(tile, 0, simt::thread_index());
  return reinterpret_cast<const simt::Vector16*>(of_thread + step * Shape::step);
}

/// Loads the first vector of this thread's part of a step. Where there is none, logits are minus infinity.
template <class T>
SPECLAB_DEVICE simt::Vector16 load_step(const T* row, std::int32_t vocab, std::int32_t tile, int step) {
  simt::Vector16 mine{};
  SPECLAB_UNROLL
  for (int k = 0; k < TileShape<T>::width; ++k) set_logit<T>(mine, k, from_float<T>(-INFINITY));
  const simt::Vector16* const vector = first_vector(row, vocab, tile, step);
  if (vector != nullptr) mine = in_vectors(row) ? simt::load(vector) : simt::load_cached(vector);
  return mine;
}

/// Turns the first vector of a step into this thread's logits: joins it with the second if the row is
/// shifted. Loads one by one the logits that no vector holds, at the end of a row and at the start of a
/// shifted one; they share sectors, and so are loaded through the L1 cache.
template <class T>
SPECLAB_DEVICE void rest_of_step(const T* row, std::int32_t vocab, std::int32_t tile, int step,
                                 simt::Vector16& mine) {
  using Shape = TileShape<T>;
  const simt::Vector16* const vector = first_vector(row, vocab, tile, step);
  if (vector != nullptr) {
    if (in_vectors(row)) return;
    const auto offset = static_cast<std::int32_t>(reinterpret_cast<std::uintptr_t>(row) % 16);
    mine = joined<sizeof(T)>(mine, simt::load_cached(vector + 1), offset);
    return;
  }
  const std::int32_t first = Shape::first(tile, step, simt::thread_index());
  if (first >= vocab) return;
  SPECLAB_ROLLED
  for (int k = 0; k < Shape::width; ++k)
    append(mine, first + k < vocab ? load_cached(row + first + k) : from_float<T>(-INFINITY));
}

/// Returns whether a tile needs no `rest_of_step`.
template <class T>
SPECLAB_DEVICE bool loaded_whole(const T* row, std::int32_t vocab, std::int32_t tile) {
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

}  // namespace speclab

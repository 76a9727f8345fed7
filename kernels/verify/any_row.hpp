// Reads rows whose format is only known when the kernel runs: rows of two formats side by side, rows of
// probabilities, of a smaller vocabulary, or with ids that a grammar forbids. Threads hold them as floats,
// whatever they are in memory, and so in a float's layout of a tile: as many bytes are in flight as with rows
// of one format, in more registers.
//
// A mask costs one word from the L1 cache for every four ids; a map of ids costs one more number per id, and
// a gather; a probability costs one logarithm per id.
#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/verify/tile.hpp"

namespace speclab {

/// Replaces a row's format where the format is only known when the kernel runs.
struct AnyLogit {
  std::uint32_t bits;
};

template <>
struct TileShape<AnyLogit> : TileShape<float> {};

struct AnyRow {
  using Logit = float;

  const void* data = nullptr;
  Dtype dtype = Dtype::f32;
  RowKind kind = RowKind::logits;
  std::int32_t vocab = 0;      ///< ids of the row as seen from outside
  std::int32_t own_vocab = 0;  ///< ids of the row in memory
  /// The place in memory of each outside id; null: the id itself.
  const std::int32_t* place = nullptr;
  const std::uint32_t* mask = nullptr;
  RowScale scale{};
  Token only = no_token;  ///< the one place in memory whose id has probability, if there is just one ...
  float only_logit = 0;   ///< ... and its logit

  /// Returns an id's logit, or log2 of its probability; minus infinity if it has no probability.
  SPECLAB_DEVICE double exact(Token id) const {
    const auto value = static_cast<double>(stored(id));
    if (kind == RowKind::logits) return value;
    return value < HUGE_VAL ? log2(value) : static_cast<double>(NAN);
  }
  SPECLAB_DEVICE float one(Token id) const {
    return kind == RowKind::probabilities ? log_two(stored(id)) : stored(id);
  }

  /// Loads 16 bytes of floats; of shorter formats the 8 bytes that hold as many ids.
  SPECLAB_DEVICE simt::Vector16 begin(std::int32_t tile, int step) const {
    const std::int32_t first = Shape::first(tile, step, simt::thread_index());
    if (!whole(first)) return {};
    return vector(first - shift(), shift() != 0);
  }

  SPECLAB_DEVICE void complete(std::int32_t tile, int step, simt::Vector16& mine) const {
    const std::int32_t first = Shape::first(tile, step, simt::thread_index());
    const std::uint32_t allowed = mask == nullptr || first >= vocab ? ~0U
                                                                    : simt::load_cached(mask + first / 32) >>
                                                                          static_cast<unsigned>(first % 32);
    simt::Vector16 loaded = mine;
    if (shift() != 0 && whole(first)) loaded = shifted(mine, first);
    SPECLAB_UNROLL
    for (int k = 0; k < Shape::width; ++k) {
      float value = whole(first) ? expanded(loaded, k) : in_memory(first + k);
      if (kind == RowKind::probabilities) value = log_two(value);
      if ((allowed >> static_cast<unsigned>(k) & 1U) == 0 || value < scale.cutoff) value = -INFINITY;
      mine.word[k] = bits_of_float(value);
    }
  }
  SPECLAB_DEVICE bool as_loaded(std::int32_t /*tile*/) const { return false; }

 private:
  using Shape = TileShape<float>;

  template <class T>
  SPECLAB_DEVICE const T* address(std::int32_t id) const {
    return static_cast<const T*>(data) + id;
  }
  /// Returns whether the ids of a step can be loaded at once.
  SPECLAB_DEVICE bool whole(std::int32_t first) const {
    return place == nullptr && only == no_token && vectors_hold(shift(), first, Shape::width, own_vocab);
  }
  /// Returns the number of ids between the start of a vector of four ids and the row's first id.
  SPECLAB_DEVICE std::int32_t shift() const {
    return dtype == Dtype::f32 ? shift_of(data, 4, 16) : shift_of(data, 2, 8);
  }
  /// Loads the four ids from `id` on, where a vector begins.
  SPECLAB_DEVICE simt::Vector16 vector(std::int32_t id, bool cached) const {
    if (dtype == Dtype::f32) {
      const auto* const from = reinterpret_cast<const simt::Vector16*>(address<float>(id));
      return cached ? simt::load_cached(from) : simt::load(from);
    }
    const auto* const from = reinterpret_cast<const simt::Vector8*>(address<Bf16>(id));
    const simt::Vector8 half = cached ? simt::load_cached(from) : simt::load(from);
    return {{half.word[0], half.word[1], 0, 0}};
  }
  /// Joins the first vector of a step with the second (tile_shape.hpp).
  SPECLAB_DEVICE simt::Vector16 shifted(const simt::Vector16& low, std::int32_t first) const {
    const simt::Vector16 high = vector(first - shift() + Shape::width, true);
    if (dtype == Dtype::f32) return joined<4>(low, high, 4 * shift());
    return joined<2>({{low.word[0], low.word[1], high.word[0], high.word[1]}}, {}, 2 * shift());
  }
  SPECLAB_DEVICE float expanded(const simt::Vector16& loaded, int k) const {
    if (dtype == Dtype::f32) return logit_in<float>(loaded, k);
    return dtype == Dtype::bf16 ? logit_in<Bf16>(loaded, k) : logit_in<F16>(loaded, k);
  }
  /// Returns an id's value in memory; outside the vocabulary the value that makes its probability 0.
  SPECLAB_DEVICE float in_memory(Token id) const {
    std::int32_t at = id;
    if (place != nullptr && id < vocab) at = simt::load_cached(place + id);
    if (id >= vocab || at < 0 || at >= own_vocab) return kind == RowKind::probabilities ? 0 : -INFINITY;
    if (only != no_token) return at == only ? only_logit : -INFINITY;
    if (dtype == Dtype::f32) return load_cached(address<float>(at));
    return dtype == Dtype::bf16 ? to_float(load_cached(address<Bf16>(at)))
                                : to_float(load_cached(address<F16>(at)));
  }
  /// Returns an id's value in memory, or minus infinity if the mask forbids the id.
  SPECLAB_DEVICE float stored(Token id) const {
    if (mask != nullptr && (simt::load_cached(mask + id / 32) >> static_cast<unsigned>(id % 32) & 1U) == 0)
      return -INFINITY;
    return in_memory(id);
  }
};

}  // namespace speclab

// The cut-off logits that top-k, top-p and min-p come to, row by row of the target: a launch before the
// others, a block a row.
//
// A threshold is found by its bits, eight at a time: ids are counted, or their weights summed, by the next
// eight bits of their logits, and the bin where the sum from above passes the goal has them. All sums are of
// integers, so that their order does not matter. Reads of the row: one for the largest logit, and for each of
// top-k and top-p four (float), two (bf16) or three (f16); min-p takes none. Rows of a multiprocessor's
// blocks stay in the second cache meanwhile.
#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/verify/weights.hpp"

namespace speclab {

struct CutoffArgs {
  VerifyBatch batch;
  std::int32_t positions;
  std::int32_t tiles;
  float* cutoffs;  ///< [requests, gamma + 1]
};

/// As numbers, in the order of floats; NaN has no place.
SPECLAB_HD inline std::uint32_t order_key(float value) {
  const std::uint32_t bits = bits_of_float(value);
  return (bits & 0x80000000U) != 0 ? ~bits : bits | 0x80000000U;
}
SPECLAB_HD inline float value_of_key(std::uint32_t key) {
  return float_of_bits((key & 0x80000000U) != 0 ? key & 0x7fffffffU : ~key);
}

struct Cutoffs : simt::KernelOf<CutoffArgs, tile_threads, 2> {
  static constexpr const char* name = "cut-offs";

  struct Shared {
    float largest[tile_warps];
    bool invalid[tile_warps];
    std::uint64_t bins[tile_threads];
    std::uint64_t of_warp[tile_warps];
    std::uint64_t above;
    std::int32_t chosen;
  };

  SPECLAB_DEVICE void operator()(const Args& args) const {
    const VerifyBatch& batch = args.batch;
    const BlockPlace at = block_place(args.positions, 1);
    const std::int32_t length = batch.length(at.request);
    if (length < 0 || length > batch.gamma || at.position > length) return;
    if (at.position == length && batch.bonus != nullptr) return;
    const AnyRow row = logit_row<AnyLogit>(batch, true, at.request, at.position);
    auto& shared = simt::shared<Shared>();
    float cutoff = row.scale.cutoff;
    float largest = -INFINITY;
    // A row that is invalid is left as it is: whoever reads it next will say so. Temperature 0 keeps the
    // largest logits anyway.
    if (find_largest(row, args.tiles, shared, largest) && row.scale.scale < frozen_scale) {
      const auto entry = [&](const auto& view, auto otherwise) {
        return view == nullptr ? otherwise : *view.at(at.request, at.position, batch.gamma + 1);
      };
      std::uint32_t key = 0;
      const std::int32_t top_k = entry(batch.top_k, 0);
      if (top_k > 0 && top_k < batch.vocab) {
        key = threshold(row, args.tiles, shared, key, largest, false, static_cast<double>(top_k));
      }
      const auto top_p = static_cast<double>(entry(batch.top_p, 1.0F));
      if (top_p < 1) key = threshold(row, args.tiles, shared, key, largest, true, top_p);
      if (key > 0) cutoff = fmaxf(cutoff, value_of_key(key));
      const auto min_p = static_cast<double>(entry(batch.min_p, 0.0F));
      if (min_p > 0) {
        cutoff = fmaxf(cutoff, static_cast<float>(static_cast<double>(largest) +
                                                  log2(min_p) / static_cast<double>(row.scale.scale)));
      }
    }
    if (simt::thread_index() == 0) {
      args.cutoffs[at.request * (batch.gamma + 1) + at.position] = cutoff;
    }
  }

 private:
  /// Calls `visit(logit)` for each id of this thread that has a probability.
  template <class Visit>
  SPECLAB_DEVICE static void visit_row(const AnyRow& row, std::int32_t tiles, const Visit& visit) {
    for (std::int32_t tile = 0; tile < tiles; ++tile) {
      const HeldTile<float> mine = whole_tile(row, tile);
      SPECLAB_UNROLL
      for (int i = 0; i < held; ++i) {
        const float logit = mine.logit(i);
        if (logit != -INFINITY) visit(logit);
      }
    }
  }

  /// The row's largest logit; false of an invalid row. All threads get it.
  SPECLAB_DEVICE static bool find_largest(const AnyRow& row, std::int32_t tiles, Shared& shared,
                                          float& largest) {
    bool invalid = false;
    visit_row(row, tiles, [&](float logit) {
      invalid = invalid || !(logit < INFINITY);
      largest = fmaxf(largest, logit);
    });
    largest = simt::warp_reduce(largest, [](float a, float b) { return fmaxf(a, b); });
    const bool any = simt::ballot(invalid) != 0;
    const int warp = simt::thread_index() / simt::warp_size;
    if (simt::thread_index() % simt::warp_size == 0) {
      shared.largest[warp] = largest;
      shared.invalid[warp] = any;
    }
    simt::sync();
    invalid = false;
    for (int i = 0; i < tile_warps; ++i) {
      largest = fmaxf(largest, shared.largest[i]);
      invalid = invalid || shared.invalid[i];
    }
    return !invalid && largest > -INFINITY;
  }

  /// The largest key such that the ids from it on are as many as the goal, or have that share of the weight
  /// of all from key `least` on, with which it ends where there are not as many.
  SPECLAB_DEVICE static std::uint32_t threshold(const AnyRow& row, std::int32_t tiles, Shared& shared,
                                                std::uint32_t least, float largest, bool by_weight,
                                                double goal) {
    const int thread = simt::thread_index();
    const int lane = thread % simt::warp_size;
    // Bits below are 0 in the shorter formats.
    const int last = row.dtype == Dtype::f32 ? 0 : row.dtype == Dtype::f16 ? 8 : 16;
    std::uint32_t prefix = 0;
    std::uint64_t above = 0;
    std::uint64_t wanted = static_cast<std::uint64_t>(goal);
    for (int shift = 24; shift >= last; shift -= 8) {
      shared.bins[thread] = 0;
      if (thread == 0) shared.chosen = -1;
      simt::sync();
      visit_row(row, tiles, [&](float logit) {
        const std::uint32_t key = order_key(logit);
        if (key < least || (std::uint64_t{key} >> static_cast<unsigned>(shift + 8)) != prefix) return;
        // In units of 2^-40 of the largest weight.
        const float weight =
            by_weight ? relative_weight(logit, row.scale.scale, largest * row.scale.scale) : 1;
        const std::uint64_t units = by_weight ? static_cast<std::uint64_t>(weight * 0x1p40F) : 1;
        simt::fetch_add(&shared.bins[key >> static_cast<unsigned>(shift) & 255U], units);
      });
      simt::sync();
      // From the last bin down.
      const std::uint64_t own = shared.bins[tile_threads - 1 - thread];
      std::uint64_t sum = simt::warp_inclusive_sum(own);
      if (lane == simt::warp_size - 1) shared.of_warp[thread / simt::warp_size] = sum;
      simt::sync();
      std::uint64_t all = 0;
      for (int warp = 0; warp < tile_warps; ++warp) {
        if (warp < thread / simt::warp_size) sum += shared.of_warp[warp];
        all += shared.of_warp[warp];
      }
      if (by_weight && shift == 24)
        wanted = static_cast<std::uint64_t>(ceil(goal * static_cast<double>(all)));
      if (wanted == 0) wanted = 1;
      sum += above;
      if (sum >= wanted && sum - own < wanted) {
        shared.chosen = tile_threads - 1 - thread;
        shared.above = sum - own;
      }
      simt::sync();
      if (shared.chosen < 0) return least;
      prefix = prefix << 8U | static_cast<std::uint32_t>(shared.chosen);
      above = shared.above;
      simt::sync();
    }
    return prefix << static_cast<unsigned>(last);
  }
};

}  // namespace speclab

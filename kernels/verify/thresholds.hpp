// Finds a threshold among the logits of a row (cutoffs.hpp): how far down ids must be kept to reach a number
// of them, or a share of the weight.
//
// A threshold is found in rounds: ids are counted, or their weights summed, in 256 bins, and the bin in which
// the sum from above reaches the goal is the next round's range. In the first round bins have equal width in
// logits, so that neighbours in a warp rarely add to the same bin; later rounds divide the bits of the float.
// The sums are of whole numbers, whose order does not matter. Rounds end when the bin holds exactly what was
// missing, or one value: after at most three rounds for 2-byte formats and five for floats.
#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/verify/tile_shape.hpp"
#include "kernels/verify/weights.hpp"

namespace speclab {

/// Maps logits to integers in the same order, without the bits that all logits of a format share. Both zeros
/// have one number; NaN has none.
struct OrderKeys {
  unsigned unused;  ///< low bits of a float that the format lacks

  SPECLAB_HD explicit OrderKeys(Dtype dtype)
      : unused(dtype == Dtype::f32   ? 0
               : dtype == Dtype::f16 ? 13
                                     : 16) {}

  SPECLAB_HD std::uint32_t key(float logit) const {
    const std::uint32_t bits = bits_of_float(logit + 0.0F);
    return ((bits & 0x80000000U) != 0 ? ~bits : bits | 0x80000000U) >> unused;
  }
  SPECLAB_HD float logit(std::uint32_t key) const {
    const std::uint32_t bits = key << unused;
    return float_of_bits((bits & 0x80000000U) != 0 ? bits & 0x7fffffffU : ~(bits | ((1U << unused) - 1)));
  }
};

/// The search; all threads of a cluster make it together.
struct Thresholds {
  static constexpr std::uint32_t bins = tile_threads;

  /// Shared memory of a block; all blocks of the cluster read it.
  struct Shared {
    std::uint32_t low[bins], high[bins];  ///< halves of the bins' sums
    std::uint64_t of_warp[tile_warps];
    std::uint32_t chosen;
    std::uint64_t above, here;  ///< sums of the bins above the chosen one, and the chosen bin's sum
  };

  /// The keys that the threshold may still have, both ends included.
  struct Range {
    std::uint32_t least, most;
  };
  /// The goal that a threshold must reach: a number of ids (each counts 1), or a share of the total weight. A
  /// total of 0 stands for the weight of the ids in the first range.
  struct Goal {
    bool of_weights;
    double amount;
    std::uint64_t total;
  };
  /// The number that a weight of 1 counts, so that 2^21 of them are below 2^64. Ids lighter than 2^-42 of the
  /// likeliest count 0.
  static constexpr float unit = 0x1p42F;

  /// Finds the largest key such that the ids with this key or a larger one reach the goal, in number or in
  /// weight, and makes it the least of the range. Returns false if all ids of the reader fall short of the
  /// goal. `range.most` is the largest logit's key.
  template <class Reader>
  SPECLAB_DEVICE static bool find(const Reader& reader, const OrderKeys& order, float scale, const Goal& goal,
                                  Range& range, Shared& shared) {
    const float largest = order.logit(range.most);
    Range left = range;
    // The last bin of the first round collects all that is more than 42 powers of two less likely than the
    // largest logit. Counts use the width of temperature 1, since any width will do.
    const float per_logit =
        static_cast<float>(bins - 1) / 42 * (goal.of_weights ? scale : static_cast<float>(log2_e));
    const auto first_bin = [&](float logit) {
      const float bin = (largest - logit) * per_logit;
      return bin < static_cast<float>(bins - 1) ? static_cast<std::uint32_t>(bin) : bins - 1;
    };
    std::uint64_t above = 0;
    std::uint64_t wanted = 0;
    bool first = true;
    do {
      unsigned shift = 0;
      while ((left.most - left.least) >> shift >= bins) ++shift;
      shared.low[simt::thread_index()] = shared.high[simt::thread_index()] = 0;
      simt::sync();
      reader.each([&](float logit) {
        const std::uint32_t key = order.key(logit);
        if (key < left.least || key > left.most) return;
        const std::uint64_t amount = goal.of_weights ? units_of((logit - largest) * scale) : 1;
        if (amount > 0) add(shared, first ? first_bin(logit) : (left.most - key) >> shift, amount);
      });
      simt::cluster_sync();
      const std::uint64_t all = choose_bin(shared, above, [&](std::uint64_t sum) {
        if (first) wanted = wanted_of(goal, sum);
        return wanted;
      });
      if (above + all < wanted) return false;
      above = shared.above;
      if (first) {
        left = keys_of_bin(order, left, shared.chosen, first_bin);
      } else {
        left.most -= shared.chosen << shift;
        const std::uint32_t others = (1U << shift) - 1;
        if (left.most - left.least > others) left.least = left.most - others;
      }
      first = false;
    } while (left.least < left.most && above + shared.here != wanted);
    range.least = left.least;
    return true;
  }

 private:
  /// Returns a weight of 2^x in units.
  SPECLAB_DEVICE static std::uint64_t units_of(float x) {
    return x > -42 ? static_cast<std::uint64_t>(power_of_two(x) * unit) : 0;
  }
  /// Returns the amount that the sum must reach, at least 1, so that one id is kept.
  SPECLAB_DEVICE static std::uint64_t wanted_of(const Goal& goal, std::uint64_t sum) {
    if (!goal.of_weights) return static_cast<std::uint64_t>(goal.amount);
    const std::uint64_t total = goal.total == 0 ? sum : goal.total;
    const auto wanted = static_cast<std::uint64_t>(ceil(goal.amount * static_cast<double>(total)));
    return wanted < 1 ? 1 : wanted > total ? total : wanted;
  }

  /// Adds an amount to a bin as two halves of 32 bits, which shared memory adds natively; most amounts have
  /// no upper half.
  SPECLAB_DEVICE static void add(Shared& shared, std::uint32_t bin, std::uint64_t amount) {
    const auto low = static_cast<std::uint32_t>(amount);
    const std::uint32_t before = simt::fetch_add(&shared.low[bin], low);
    const std::uint32_t carried = before > ~low ? 1 : 0;
    const std::uint32_t high = static_cast<std::uint32_t>(amount >> 32U) + carried;
    if (high > 0) simt::fetch_add(&shared.high[bin], high);
  }

  /// Finds the bin in which `above` plus the sum over all blocks' bins, from the first bin on, reaches
  /// `wanted(sum of all bins)`, and leaves it in shared memory if there is one. Returns the sum of all bins.
  /// All threads of a cluster call it after they have waited for each other; they may write to bins once it
  /// has returned.
  template <class Wanted>
  SPECLAB_DEVICE static std::uint64_t choose_bin(Shared& shared, std::uint64_t above, const Wanted& wanted) {
    const int thread = simt::thread_index();
    const int warp = thread / simt::warp_size;
    std::uint64_t here = 0;
    for (int rank = 0; rank < simt::cluster_size(); ++rank) {
      here += std::uint64_t{*simt::cluster_shared(&shared.high[thread], rank)} << 32U;
      here += *simt::cluster_shared(&shared.low[thread], rank);
    }
    std::uint64_t sum = simt::warp_inclusive_sum(here);
    if (thread % simt::warp_size == simt::warp_size - 1) shared.of_warp[warp] = sum;
    simt::cluster_sync();
    std::uint64_t all = 0;
    for (int i = 0; i < tile_warps; ++i) {
      if (i < warp) sum += shared.of_warp[i];
      all += shared.of_warp[i];
    }
    const std::uint64_t goal = wanted(all);
    sum += above;
    if (sum >= goal && sum - here < goal) {
      shared.chosen = static_cast<std::uint32_t>(thread);
      shared.above = sum - here;
      shared.here = here;
    }
    simt::sync();
    return all;
  }

  /// Returns the keys of a range whose logits fall into a bin of the first round. Larger logits fall into
  /// lower bins.
  template <class Bin>
  SPECLAB_DEVICE static Range keys_of_bin(const OrderKeys& order, const Range& range, std::uint32_t bin,
                                          const Bin& bin_of) {
    // Returns the least key of the range in a bin up to `last`.
    const auto min_up_to = [&](std::uint32_t last) {
      std::uint32_t least = range.least;
      std::uint32_t most = range.most;
      while (least < most) {
        const std::uint32_t middle = least + (most - least) / 2;
        if (bin_of(order.logit(middle)) <= last) {
          most = middle;
        } else {
          least = middle + 1;
        }
      }
      return least;
    };
    return {min_up_to(bin), bin == 0 ? range.most : min_up_to(bin - 1) - 1};
  }
};

}  // namespace speclab

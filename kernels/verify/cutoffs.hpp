// The cut-off logits that top-k, top-p and min-p come to (filters.hpp), row by row of the target: a launch
// before the others, a block a row.
//
// A threshold is found in rounds, each of which reads the row once: ids are counted, or their weights summed,
// in 256 bins, and the bin in which the sum from above reaches the goal is the next round's range. Bins of
// the first round are of equal width in logits, from the largest one down, so that neighbours in a warp
// rarely add to the same bin; later ones divide the bits of the float. All sums are of whole numbers, whose
// order does not matter. Rounds end when the bin holds exactly what was missing, or one value. Reads of a
// row: one for the largest logit; for each of top-k and top-p one, two as a rule and three at most of 2-byte
// formats, two to three as a rule and five at most of floats; min-p takes none. The rows of the blocks that
// run at once stay in the second cache meanwhile.
#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/verify/filters.hpp"
#include "kernels/verify/weights.hpp"

namespace speclab {

struct CutoffArgs {
  VerifyBatch batch;
  std::int32_t positions;  ///< rows of the target that a request has
  std::int32_t tiles;
  float* cutoffs;  ///< out: [requests, gamma + 1]; those of rows past a request's end are not written
};

/// Logits as whole numbers in their order, without the bits that are the same in all logits of a format. Both
/// zeros are one number; NaN has no place.
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

struct Cutoffs : simt::KernelOf<CutoffArgs, tile_threads, 2> {
  static constexpr const char* name = "cut-offs";

  /// A bin for each thread.
  struct Shared {
    float largest[tile_warps];
    bool invalid[tile_warps];
    std::uint32_t low[tile_threads], high[tile_threads];  ///< halves of the bins' sums
    std::uint64_t of_warp[tile_warps];
    std::uint32_t chosen;
    std::uint64_t above, here;  ///< sums of the bins above the chosen one, and its own
  };

  SPECLAB_DEVICE void operator()(const Args& args) const {
    const VerifyBatch& batch = args.batch;
    const BlockPlace at = block_place(args.positions, 1);
    const std::int32_t length = batch.length(at.request);
    const std::int32_t rows = length + (batch.bonus == nullptr ? 1 : 0);
    if (length < 0 || length > batch.gamma || at.position >= rows) return;
    const AnyRow row = logit_row<AnyLogit>(batch, true, at.request, at.position);
    const float cutoff = cutoff_of(row, args.tiles, temperature_of(batch, at.request, at.position),
                                   filters_of(batch, at.request, at.position));
    if (simt::thread_index() == 0) args.cutoffs[at.request * (batch.gamma + 1) + at.position] = cutoff;
  }

 private:
  /// Keys that a threshold may still be, both ends included.
  struct Range {
    std::uint32_t least, most;
  };
  /// What is counted (1 of each id) or summed (its weight), and how much of it is wanted of what all ids of
  /// the first range have: a number, or a share.
  struct Goal {
    bool of_weights;
    double amount;
  };
  /// A weight of 1, so that 2^21 of them are less than 2^64. Lighter ids than 2^-42 of the likeliest count 0.
  static constexpr float unit = 0x1p42F;
  static constexpr std::uint32_t bins = tile_threads;

  SPECLAB_DEVICE static double temperature_of(const VerifyBatch& batch, std::int64_t request,
                                              std::int32_t position) {
    const View<const float>& given = batch.target_options.temperature;
    return given == nullptr ? 1 : static_cast<double>(*batch.entry(given, true, request, position));
  }

  /// All threads of a block get it.
  SPECLAB_DEVICE static float cutoff_of(const AnyRow& row, std::int32_t tiles, double temperature,
                                        const Filters& filters) {
    // Nothing reaches it: the row is invalid, and whoever reads it next says so.
    if (!filters.valid()) return INFINITY;
    auto& shared = simt::shared<Shared>();
    float largest = -INFINITY;
    // An invalid row stays one.
    if (!(row.scale.scale < frozen_scale) || !find_largest(row, tiles, shared, largest)) {
      return row.scale.cutoff;
    }
    const OrderKeys order(row.dtype);
    Range range{0, order.key(largest)};
    if (filters.top_k > 0 && filters.top_k < row.vocab) {
      range.least = threshold(row, tiles, shared, range, {false, static_cast<double>(filters.top_k)});
    }
    if (filters.top_p < 1) range.least = threshold(row, tiles, shared, range, {true, filters.top_p});
    float cutoff = row.scale.cutoff;
    if (range.least > 0) cutoff = fmaxf(cutoff, order.logit(range.least));
    if (filters.min_p > 0) {
      const double bound = static_cast<double>(largest) + log(filters.min_p) * temperature;
      cutoff = fmaxf(cutoff, static_cast<float>(bound));
    }
    return cutoff;
  }

  /// Calls `visit(logit)` for each id of this thread that has a probability.
  template <class Visit>
  SPECLAB_DEVICE static void visit_row(const AnyRow& row, std::int32_t tiles, const Visit& visit) {
    HeldTile<float> mine = row.begin(0);
    for (std::int32_t tile = 0; tile < tiles; ++tile) {
      // The following tile is on its way while this one is visited.
      HeldTile<float> following{};
      if (tile + 1 < tiles) following = row.begin(tile + 1);
      row.complete(tile, mine);
      SPECLAB_UNROLL
      for (int i = 0; i < held; ++i) {
        if (mine.logit(i) != -INFINITY) visit(mine.logit(i));
      }
      mine = following;
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
    invalid = simt::ballot(invalid) != 0;
    if (simt::thread_index() % simt::warp_size == 0) {
      shared.largest[simt::thread_index() / simt::warp_size] = largest;
      shared.invalid[simt::thread_index() / simt::warp_size] = invalid;
    }
    simt::sync();
    for (int warp = 0; warp < tile_warps; ++warp) {
      largest = fmaxf(largest, shared.largest[warp]);
      invalid = invalid || shared.invalid[warp];
    }
    return !invalid && largest > -INFINITY;
  }

  /// The largest key of the range from which on ids are as many as the goal, or have as much weight; the
  /// least one where all of them are not as many. `range.most` is the largest logit's.
  SPECLAB_DEVICE static std::uint32_t threshold(const AnyRow& row, std::int32_t tiles, Shared& shared,
                                                Range range, const Goal& goal) {
    const OrderKeys order(row.dtype);
    const float largest = order.logit(range.most);
    // The last bin of the first round has what is more than 42 powers of two less likely than the largest
    // logit; of counts, at temperature 1, since any width will do.
    const float per_logit =
        static_cast<float>(bins - 1) / 42 * (goal.of_weights ? row.scale.scale : static_cast<float>(log2_e));
    const auto first_bin = [&](float logit) {
      const float bin = (largest - logit) * per_logit;
      return bin < static_cast<float>(bins - 1) ? static_cast<std::uint32_t>(bin) : bins - 1;
    };
    std::uint64_t above = 0;
    std::uint64_t wanted = goal.of_weights ? 0 : static_cast<std::uint64_t>(goal.amount);
    for (bool first = true; first || range.least < range.most; first = false) {
      unsigned shift = 0;
      while ((range.most - range.least) >> shift >= bins) ++shift;
      shared.low[simt::thread_index()] = shared.high[simt::thread_index()] = 0;
      simt::sync();
      visit_row(row, tiles, [&](float logit) {
        const std::uint32_t key = order.key(logit);
        if (key < range.least || key > range.most) return;
        const std::uint64_t amount = goal.of_weights ? units_of((logit - largest) * row.scale.scale) : 1;
        if (amount > 0) add(shared, first ? first_bin(logit) : (range.most - key) >> shift, amount);
      });
      simt::sync();
      const std::uint64_t all = choose_bin(shared, above, [&](std::uint64_t sum) {
        if (first && goal.of_weights) wanted = share_of(goal.amount, sum);
        return wanted;
      });
      // No bin was chosen.
      if (above + all < wanted) return range.least;
      const std::uint32_t bin = shared.chosen;
      above = shared.above;
      const bool complete = above + shared.here == wanted;
      if (first) {
        range = keys_of_bin(order, range, bin, first_bin);
      } else {
        range.most -= bin << shift;
        const std::uint32_t others = (1U << shift) - 1;
        if (range.most - range.least > others) range.least = range.most - others;
      }
      if (complete) break;
    }
    return range.least;
  }

  /// A weight of 2^x in units.
  SPECLAB_DEVICE static std::uint64_t units_of(float x) {
    return x > -42 ? static_cast<std::uint64_t>(power_of_two(x) * unit) : 0;
  }
  /// At least 1, so that one id is kept.
  SPECLAB_DEVICE static std::uint64_t share_of(double share, std::uint64_t sum) {
    const auto wanted = static_cast<std::uint64_t>(ceil(share * static_cast<double>(sum)));
    return wanted < 1 ? 1 : wanted > sum ? sum : wanted;
  }

  /// In two halves of 32 bits, which shared memory adds by itself; most amounts have no upper half.
  SPECLAB_DEVICE static void add(Shared& shared, std::uint32_t bin, std::uint64_t amount) {
    const auto low = static_cast<std::uint32_t>(amount);
    const std::uint32_t before = simt::fetch_add(&shared.low[bin], low);
    const std::uint32_t carried = before > ~low ? 1 : 0;
    const std::uint32_t high = static_cast<std::uint32_t>(amount >> 32U) + carried;
    if (high > 0) simt::fetch_add(&shared.high[bin], high);
  }

  /// Leaves in shared memory the bin in which the sum of all bins, `above` and those before it reaches
  /// `wanted(sum of all bins)`, if there is one. Returns the sum of all bins. All threads; `sync` before and
  /// after.
  template <class Wanted>
  SPECLAB_DEVICE static std::uint64_t choose_bin(Shared& shared, std::uint64_t above, const Wanted& wanted) {
    const int thread = simt::thread_index();
    const int warp = thread / simt::warp_size;
    const std::uint64_t here = std::uint64_t{shared.high[thread]} << 32U | shared.low[thread];
    std::uint64_t sum = simt::warp_inclusive_sum(here);
    if (thread % simt::warp_size == simt::warp_size - 1) shared.of_warp[warp] = sum;
    simt::sync();
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

  /// The keys of a range whose logits fall into a bin of the first round. Larger logits fall into lower bins.
  template <class Bin>
  SPECLAB_DEVICE static Range keys_of_bin(const OrderKeys& order, const Range& range, std::uint32_t bin,
                                          const Bin& bin_of) {
    // The least key of the range in a bin up to `last`.
    const auto least_up_to = [&](std::uint32_t last) {
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
    return {least_up_to(bin), bin == 0 ? range.most : least_up_to(bin - 1) - 1};
  }
};

}  // namespace speclab

// Finds the cut-off logits of top-k, top-p and min-p (filters.hpp) for each row of the target. This launch
// comes before the others, with a cluster of blocks for each row, or one block if the device has no clusters.
//
// The row is read twice. The first reading finds its largest logit, and divides the threads into 256 groups
// to find each group's largest logit and the least of those. At least 256 ids are at or above that least one;
// in rows of random order about 256 ln 256 = 1,600 are. The second reading puts these ids in shared memory,
// adds up all weights if top-p needs their sum, and thresholds are found among these ids. Only if they do not
// suffice (larger top-k, top-p of flat rows) do the rounds read the row itself. Min-p needs only the largest
// logit.
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "kernels/verify/filters.hpp"
#include "kernels/verify/thresholds.hpp"
#include "kernels/verify/weights.hpp"

namespace speclab {

struct CutoffArgs {
  VerifyBatch batch;
  std::int32_t positions;  ///< target rows per request
  std::int32_t tiles;
  /// Out: [requests, gamma + 1]; entries for rows past a request's end are not written.
  float* cutoffs;
};

/// Finds the cut-offs; `T` is the format of the target's rows. Threads hold one tile while they load the
/// next; with AnyLogit these take more registers, so that only one block fits on a multiprocessor.
template <class T>
struct Cutoffs : simt::KernelOf<CutoffArgs, tile_threads, std::is_same_v<T, AnyLogit> ? 1 : 2> {
  static constexpr const char* name = "cut-offs";

  /// Largest number of a row's logits that a block keeps in shared memory.
  static constexpr std::uint32_t max_near = 4096;

  /// The result of the first reading of a row.
  struct Peaks {
    float largest = -INFINITY;
    float min_largest = INFINITY;  ///< least of the groups' largest logits
    bool invalid = false;

    SPECLAB_DEVICE void merge(const Peaks& other) {
      largest = fmaxf(largest, other.largest);
      min_largest = fminf(min_largest, other.min_largest);
      invalid = invalid || other.invalid;
    }
  };

  /// Shared memory of a block; all blocks of the cluster read it.
  struct Shared {
    Peaks of_block, peaks[tile_warps];
    std::uint64_t sum_of_block, sums[tile_warps];
    std::uint32_t near_count;
    float near[max_near];  ///< in any order
    Thresholds::Shared thresholds;
  };

  SPECLAB_DEVICE void operator()(const CutoffArgs& args) const {
    const VerifyBatch& batch = args.batch;
    const BlockPlace at = block_place(args.positions, simt::cluster_size());
    const std::int32_t length = batch.length(at.request);
    const std::int32_t rows = batch.target_rows(length);
    if (length < 0 || length > batch.gamma || at.position >= rows) return;
    const Filters filters = filters_of(batch, at.request, at.position);
    const RowReader row{logit_row<T>(batch, true, at.request, at.position), args.tiles, simt::cluster_rank(),
                        simt::cluster_size()};
    float cutoff = row.row.scale.cutoff;
    if (!filters.valid()) {
      // No logit reaches an infinite cut-off: the row becomes invalid, and the next kernel that reads it
      // reports that.
      cutoff = INFINITY;
    } else if (row.row.scale.scale < frozen_scale) {
      const View<const float>& given = batch.target_options.temperature;
      const double temperature =
          given == nullptr ? 1 : static_cast<double>(*batch.entry(given, true, at.request, at.position));
      cutoff = fmaxf(cutoff, min_kept(row, batch.target.dtype, filters, temperature));
    }
    if (at.tile == 0 && simt::thread_index() == 0)
      args.cutoffs[at.request * (batch.gamma + 1) + at.position] = cutoff;
    // Other blocks may still read this block's shared memory.
    simt::cluster_sync();
  }

 private:
  /// Visits the ids of a row in memory that have a probability.
  struct RowReader {
    RowOf<T> row;
    std::int32_t tiles;
    int rank, blocks;  ///< of the cluster, which shares the tiles

    /// Calls `visit(mine)` with this thread's part of each tile, while the next tile is being loaded.
    template <class Visit>
    SPECLAB_DEVICE void each_tile(const Visit& visit) const {
      auto mine = begin_tile(row, rank);
      for (std::int32_t tile = rank; tile < tiles; tile += blocks) {
        decltype(mine) following{};
        if (tile + blocks < tiles) following = begin_tile(row, tile + blocks);
        complete_tile(row, tile, mine);
        visit(mine);
        mine = following;
      }
    }
    /// Calls `visit(logit)` for each of this thread's logits.
    template <class Visit>
    SPECLAB_DEVICE void each(const Visit& visit) const {
      each_tile([&](const auto& mine) {
        SPECLAB_UNROLL
        for (int i = 0; i < held; ++i) {
          if (mine.logit(i) != -INFINITY) visit(mine.logit(i));
        }
      });
    }
  };
  /// Visits the logits near the largest one, which the second reading has kept.
  struct NearReader {
    const float* near;
    std::uint32_t count;

    template <class Visit>
    SPECLAB_DEVICE void each(const Visit& visit) const {
      for (std::uint32_t i = static_cast<std::uint32_t>(simt::thread_index()); i < count; i += tile_threads)
        visit(near[i]);
    }
  };

  /// The result of the second reading.
  struct Near {
    std::uint32_t here;   ///< ids near the largest that this block has kept
    std::uint32_t count;  ///< ids near the largest in all blocks
    bool all_kept;        ///< whether all of them had room
    std::uint64_t sum;    ///< sum of all weights, in units
  };

  /// Returns the least logit that is kept; minus infinity if all are. All threads of a block call it.
  SPECLAB_DEVICE static float min_kept(const RowReader& row, Dtype dtype, const Filters& filters,
                                       double temperature) {
    auto& shared = simt::shared<Shared>();
    const Peaks peaks = peaks_of(row, shared);
    // An invalid row stays invalid.
    if (peaks.invalid || !(peaks.largest > -INFINITY)) return -INFINITY;
    const OrderKeys order(dtype);
    const float scale = row.row.scale.scale;
    Thresholds::Range range{0, order.key(peaks.largest)};
    const bool counts = filters.top_k > 0 && filters.top_k < row.row.vocab;
    const bool weights = filters.top_p < 1;
    if (counts || weights) {
      const Near near =
          weights && !counts ? keep_near<true>(row, peaks, shared) : keep_near<false>(row, peaks, shared);
      const bool whole = !(peaks.min_largest > -INFINITY);
      bool suffices = near.all_kept && (counts || near.sum > 0);
      if (counts) suffices = suffices && (whole || near.count >= static_cast<std::uint32_t>(filters.top_k));
      // Thresholds are found against the same total in either reader, so that the result does not depend on
      // how many blocks share a row.
      const std::uint64_t total = counts ? 0 : near.sum;
      for (int turn = counts ? 0 : 1; turn < (weights ? 2 : 1); ++turn) {
        const Thresholds::Goal goal{turn == 1, turn == 1 ? filters.top_p : static_cast<double>(filters.top_k),
                                    total};
        const NearReader kept{shared.near, near.here};
        suffices = suffices && Thresholds::find(kept, order, scale, goal, range, shared.thresholds);
        if (!suffices) Thresholds::find(row, order, scale, goal, range, shared.thresholds);
      }
    }
    float least = range.least > 0 ? order.logit(range.least) : -INFINITY;
    if (filters.min_p > 0) {
      const double bound = static_cast<double>(peaks.largest) + log(filters.min_p) * temperature;
      least = fmaxf(least, static_cast<float>(bound));
    }
    return least;
  }

  /// Reads the row for the first time; every thread of the cluster gets the result.
  SPECLAB_DEVICE static Peaks peaks_of(const RowReader& row, Shared& shared) {
    Peaks mine;
    row.each_tile([&](const auto& tile) {
      SPECLAB_UNROLL
      for (int i = 0; i < held; ++i) {
        mine.largest = fmaxf(mine.largest, tile.logit(i));
        mine.invalid = mine.invalid || !(tile.logit(i) < INFINITY);
      }
    });
    // A group consists of as many neighbouring lanes as the row has blocks.
    float of_group = mine.largest;
    for (int lane = 1; lane < row.blocks; lane *= 2)
      of_group = fmaxf(of_group, simt::shuffle_xor(of_group, lane));
    const auto larger = [](float a, float b) { return fmaxf(a, b); };
    const auto smaller = [](float a, float b) { return fminf(a, b); };
    const Peaks of_warp{simt::warp_reduce(mine.largest, larger), simt::warp_reduce(of_group, smaller),
                        simt::ballot(mine.invalid) != 0};
    if (simt::thread_index() % simt::warp_size == 0)
      shared.peaks[simt::thread_index() / simt::warp_size] = of_warp;
    simt::sync();
    if (simt::thread_index() == 0) {
      Peaks of_block;
      for (const Peaks& each : shared.peaks) of_block.merge(each);
      shared.of_block = of_block;
      shared.near_count = 0;
    }
    simt::cluster_sync();
    Peaks all;
    for (int rank = 0; rank < row.blocks; ++rank) all.merge(*simt::cluster_shared(&shared.of_block, rank));
    return all;
  }

  /// Keeps in shared memory the logits at or above the least of the groups' largest logits. All threads of a
  /// cluster call it.
  template <bool sum_weights>
  SPECLAB_DEVICE static Near keep_near(const RowReader& row, const Peaks& peaks, Shared& shared) {
    // An id without a probability is never near.
    const float least = fmaxf(peaks.min_largest, -0x1.fffffep127F);
    std::uint64_t sum = 0;
    row.each_tile([&](const auto& tile) {
      if constexpr (sum_weights) {
        float sums[4] = {0, 0, 0, 0};
        SPECLAB_UNROLL
        for (int i = 0; i < held; ++i)
          sums[i % 4] += power_of_two((tile.logit(i) - peaks.largest) * row.row.scale.scale);
        // A thread holds the same ids of a tile in any cluster, and whole numbers add up in any order.
        const float of_tile = (sums[0] + sums[1]) + (sums[2] + sums[3]);
        sum += static_cast<std::uint64_t>(of_tile * Thresholds::unit);
      }
      // A warp adds to the counter once for all its ids, because in a flat row every id is near.
      std::uint32_t mine = 0;
      SPECLAB_UNROLL
      for (int i = 0; i < held; ++i) mine += tile.logit(i) >= least ? 1 : 0;
      const std::uint32_t up_to_here = simt::warp_inclusive_sum(mine);
      const std::uint32_t of_warp = simt::shuffle(up_to_here, simt::warp_size - 1);
      if (of_warp == 0) return;
      std::uint32_t place = 0;
      if (simt::thread_index() % simt::warp_size == 0) place = simt::fetch_add(&shared.near_count, of_warp);
      place = simt::shuffle(place, 0) + up_to_here - mine;
      if (mine == 0 || place >= max_near) return;
      SPECLAB_UNROLL
      for (int i = 0; i < held; ++i) {
        if (tile.logit(i) >= least && place < max_near) shared.near[place++] = tile.logit(i);
      }
    });
    if constexpr (sum_weights) {
      sum = simt::warp_sum(sum);
      const int warp = simt::thread_index() / simt::warp_size;
      if (simt::thread_index() % simt::warp_size == 0) shared.sums[warp] = sum;
      simt::sync();
      sum = 0;
      for (const std::uint64_t of_warp : shared.sums) sum += of_warp;
      if (simt::thread_index() == 0) shared.sum_of_block = sum;
    }
    simt::cluster_sync();
    Near near{shared.near_count, 0, true, 0};
    for (int rank = 0; rank < row.blocks; ++rank) {
      const std::uint32_t count = *simt::cluster_shared(&shared.near_count, rank);
      near.count += count;
      near.all_kept = near.all_kept && count <= max_near;
      if (sum_weights) near.sum += *simt::cluster_shared(&shared.sum_of_block, rank);
    }
    return near;
  }
};

}  // namespace speclab

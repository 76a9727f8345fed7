// The distribution that the next token is drawn from, tile by tile: sums of weights for choosing a tile, then
// the weights again, id by id, for choosing within it.
#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/verify/tile.hpp"

namespace speclab {

/// Which weights: (prefix p - scale q)+, the target's probabilities, or those relative to a reference of the
/// tile's own, where the row's sum is not known.
enum class Weighing : std::uint8_t { residual, target, relative };

/// The row pair at the position where the next token is drawn.
struct NextDistribution {
  std::int32_t position = 0;
  Weighing weighing = Weighing::target;
  LogSum target;
  LogSum draft;
  bool certain = false;  ///< the draft was certain of a token, and has no row
  Token drafted = no_token;  ///< that token, which need not be in the vocabulary
  float log_prefix = 0;      ///< log2 of block verification's p_i; 0 otherwise
  float log_scale = 0;       ///< log2 of what multiplies the draft
};

/// Sums of the weights of one tile. Where the weighing is `relative` they are in units of 2^reference.
struct TileWeightSums {
  double residual;  ///< or whatever the weighing is
  double target;    ///< the target's alone, in case that there is no residual
  float reference;
};

struct HeldWeights {
  float weight[held];
};

/// The row pair of a request at a position, as it lies in global memory.
template <class T>
struct RowPair {
  const VerifyBatch& batch;
  std::int64_t request;
  std::int32_t position;

  SPECLAB_DEVICE RowScale scale(bool of_target) const {
    return row_scale(batch, of_target, request, position);
  }
  SPECLAB_DEVICE HeldLogits logits(bool of_target, std::int32_t tile) const {
    return load_tile(row_of<T>(batch.rows(of_target), request, position), batch.vocab, tile,
                     scale(of_target).cutoff);
  }
};

/// This thread's weights of a tile, both kinds. `distribution.weighing` is residual or target. `rows` gives
/// tiles as `RowPair` does.
template <class T, class Rows>
SPECLAB_DEVICE void weigh_tile(const Rows& rows, const NextDistribution& distribution, std::int32_t tile,
                               HeldWeights& residual, HeldWeights& target) {
  const float target_scale = rows.scale(true).scale;
  const HeldLogits p = rows.logits(true, tile);
  if (distribution.weighing != Weighing::residual) {
    SPECLAB_UNROLL
    for (int i = 0; i < held; ++i) {
      target.weight[i] = power_of_two(log_probability(p.logit[i], target_scale, distribution.target));
      residual.weight[i] = target.weight[i];
    }
    return;
  }
  const auto weigh = [&](int i, float log_draft) {
    const float log_target = log_probability(p.logit[i], target_scale, distribution.target);
    target.weight[i] = power_of_two(log_target);
    residual.weight[i] =
        residual_weight(log_target + distribution.log_prefix, log_draft + distribution.log_scale);
  };
  if (distribution.certain) {
    using Shape = TileShape<T>;
    SPECLAB_UNROLL
    for (int i = 0; i < held; ++i) {
      const std::int32_t id = Shape::first(tile, i / Shape::width, simt::thread_index()) + i % Shape::width;
      weigh(i, id == distribution.drafted ? 0.0F : -INFINITY);
    }
    return;
  }
  const float draft_scale = rows.scale(false).scale;
  const HeldLogits q = rows.logits(false, tile);
  SPECLAB_UNROLL
  for (int i = 0; i < held; ++i) weigh(i, log_probability(q.logit[i], draft_scale, distribution.draft));
}

/// Scratch for the reductions of a block.
struct WeightScratch {
  union {
    PartialSumScratch partial;
    simt::BlockScratch<double, tile_warps> sum;
    simt::BlockScratch<int, tile_warps> least;
  };
};

/// Sum over the block, in double.
SPECLAB_DEVICE inline double weight_sum(const HeldWeights& mine, WeightScratch& scratch) {
  float sums[4] = {0, 0, 0, 0};
  SPECLAB_UNROLL
  for (int i = 0; i < held; ++i) sums[i % 4] += mine.weight[i];
  const double sum = static_cast<double>((sums[0] + sums[1]) + (sums[2] + sums[3]));
  const double all = simt::block_reduce(sum, scratch.sum, [](double a, double b) { return a + b; });
  simt::sync();
  return all;
}

/// The sums of a tile's weights under a distribution; the first warp gets them.
template <class T, class Rows>
SPECLAB_DEVICE TileWeightSums tile_weight_sums(const Rows& rows, const NextDistribution& distribution,
                                               std::int32_t tile, WeightScratch& scratch) {
  if (distribution.weighing == Weighing::relative) {
    const PartialSum partial =
        tile_partial_sum(rows.logits(true, tile), rows.scale(true).scale, scratch.partial);
    simt::sync();
    return {static_cast<double>(partial.sum), static_cast<double>(partial.sum), partial.reference};
  }
  HeldWeights residual;
  HeldWeights target;
  weigh_tile<T>(rows, distribution, tile, residual, target);
  const double of_residual = weight_sum(residual, scratch);
  return {of_residual, weight_sum(target, scratch), 0};
}

/// The weights again that `tile_weight_sums` summed; those of the residual, or the target's alone.
template <class T, class Rows>
SPECLAB_DEVICE HeldWeights tile_weights(const Rows& rows, const NextDistribution& distribution,
                                        std::int32_t tile, float reference) {
  if (distribution.weighing == Weighing::relative) {
    const float scale = rows.scale(true).scale;
    const HeldLogits p = rows.logits(true, tile);
    HeldWeights weights;
    SPECLAB_UNROLL
    for (int i = 0; i < held; ++i) weights.weight[i] = relative_weight(p.logit[i], scale, reference);
    return weights;
  }
  HeldWeights residual;
  HeldWeights target;
  weigh_tile<T>(rows, distribution, tile, residual, target);
  return residual;
}

SPECLAB_HD inline int lowest_bit(std::uint32_t bits) {
  int place = 0;
  while ((bits >> static_cast<unsigned>(place) & 1U) == 0) ++place;
  return place;
}
SPECLAB_HD inline int highest_bit(std::uint32_t bits) {
  int place = 31;
  while ((bits >> static_cast<unsigned>(place) & 1U) == 0) --place;
  return place;
}

/// Which tile, and how far into it.
struct TileChoice {
  std::int32_t tile;
  float reference;     ///< the tile's own
  double goal;         ///< in the tile's own units
  bool zero_residual;  ///< the target replaces the residual
  bool invalid;
};

/// Two-level inverse CDF, first level: the tile where the running sum passes the share of
/// the total that the uniform says, in double. By one warp, each lane with a stretch of tiles;
/// `weight_sums(t)` gives a tile's. One lane writes the choice.
template <class WeightSums>
SPECLAB_DEVICE void choose_tile(const VerifyBatch& batch, std::int64_t request, std::int32_t tiles,
                                const NextDistribution& distribution, bool bonus,
                                const WeightSums& weight_sums, TileChoice& choice) {
  const double u = uniform_of(batch, request, next_draw(bonus, distribution.position));
  const int lane = simt::thread_index() % simt::warp_size;
  const std::int32_t each = (tiles + simt::warp_size - 1) / simt::warp_size;
  const std::int32_t first = lane * each < tiles ? lane * each : tiles;
  const std::int32_t last = first + each < tiles ? first + each : tiles;
  const bool relative = distribution.weighing == Weighing::relative;
  float reference = relative ? -INFINITY : 0;
  if (relative) {
    for (std::int32_t t = first; t < last; ++t) reference = fmaxf(reference, weight_sums(t).reference);
    reference = simt::warp_reduce(reference, [](float a, float b) { return fmaxf(a, b); });
  }
  const auto factor = [&](const TileWeightSums& tile) {
    return relative && tile.residual != 0 ? exp2(static_cast<double>(tile.reference - reference)) : 1.0;
  };
  double residual = 0;
  double target = 0;
  for (std::int32_t t = first; t < last; ++t) {
    const TileWeightSums tile = weight_sums(t);
    residual += tile.residual * factor(tile);
    target += tile.target * factor(tile);
  }
  const double whole_residual = simt::warp_sum(residual);
  const double whole_target = simt::warp_sum(target);
  if (!(whole_residual - whole_residual == 0) || !(whole_target - whole_target == 0) || !(whole_target > 0)) {
    if (lane == 0) choice = {0, 0, 0, false, true};
    return;
  }
  const bool zero_residual = !(whole_residual > 0);
  const double own = zero_residual ? target : residual;
  const double goal = u * (zero_residual ? whole_target : whole_residual);
  const double up_to_here = simt::warp_inclusive_sum(own);
  // Additions in different orders may disagree by a rounding: the first lane that passes the goal has it, and
  // should none pass, the last one of positive weight.
  const std::uint32_t passing = simt::ballot(own > 0 && up_to_here > goal);
  const std::uint32_t positive = simt::ballot(own > 0);
  const int found = passing != 0 ? lowest_bit(passing) : highest_bit(positive);
  if (lane != found) return;
  double below = up_to_here - own;
  for (std::int32_t t = first; t < last; ++t) {
    const TileWeightSums tile = weight_sums(t);
    const double weight = (zero_residual ? tile.target : tile.residual) * factor(tile);
    if (!(weight > 0)) continue;
    choice = {t, tile.reference, (goal - below) / factor(tile), zero_residual, false};
    if (below + weight > goal) break;
    below += weight;
  }
}

/// Second level: the id within the tile. Steps follow one another, and in a step a thread's ids follow those
/// of the thread before it. All threads of the block; they all get the id.
template <class T>
SPECLAB_DEVICE Token draw_in_tile(const HeldWeights& mine, std::int32_t tile, double goal,
                                  WeightScratch& scratch) {
  using Shape = TileShape<T>;
  constexpr int width = Shape::width;
  const int thread = simt::thread_index();
  const int warp = thread / simt::warp_size;
  const auto least = [](int a, int b) { return a < b ? a : b; };
  double below_step = 0;
  Token last = no_token;
  SPECLAB_UNROLL
  for (int s = 0; s < Shape::steps; ++s) {
    double own = 0;
    Token own_last = no_token;
    SPECLAB_UNROLL
    for (int k = 0; k < width; ++k) {
      const auto weight = static_cast<double>(mine.weight[s * width + k]);
      if (!(weight > 0)) continue;
      own += weight;
      own_last = Shape::first(tile, s, thread) + k;
    }
    // Weight up to and with this thread, of the step.
    const double in_warp = simt::warp_inclusive_sum(own);
    if (thread % simt::warp_size == simt::warp_size - 1) scratch.sum.of_warp[warp] = in_warp;
    simt::sync();
    double below_warp = below_step;
    double step_end = below_step;
    for (int w = 0; w < tile_warps; ++w) {
      if (w < warp) below_warp += scratch.sum.of_warp[w];
      step_end += scratch.sum.of_warp[w];
    }
    simt::sync();

    // Additions in different orders may disagree by a rounding: the first thread that passes the goal has it.
    const bool passes = own > 0 && below_warp + in_warp > goal;
    const int first = simt::block_reduce(passes ? thread : tile_threads, scratch.least, least);
    simt::sync();
    Token id = no_token;
    if (thread == first) {
      double below = below_warp + (in_warp - own);
      SPECLAB_UNROLL
      for (int k = 0; k < width; ++k) {
        const auto weight = static_cast<double>(mine.weight[s * width + k]);
        if (!(weight > 0)) continue;
        below += weight;
        id = Shape::first(tile, s, thread) + k;
        if (below > goal) break;
      }
    }
    const auto greatest = [](int a, int b) { return a > b ? a : b; };
    last = greatest(last, simt::block_reduce(first < tile_threads ? id : own_last, scratch.least, greatest));
    simt::sync();
    if (first < tile_threads) break;
    below_step = step_end;
  }
  return last;
}

}  // namespace speclab

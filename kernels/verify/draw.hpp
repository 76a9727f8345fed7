// Drawing from weights by an inverse CDF on two levels: a tile by the sums of weights, in double, then an id
// by the weights of the tile.
#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/verify/weights.hpp"

namespace speclab {

/// Where a goal lies among weights in order: the place, and the sum of those before it.
struct Found {
  int place;
  double below;
};

/// The lane of a warp whose weight the goal falls into. Additions in different orders may disagree by a
/// rounding: the first lane that passes the goal has it, and should none pass, the last one of positive
/// weight; -1 where all weights are 0.
SPECLAB_DEVICE inline Found find_lane(double weight, double goal) {
  const double up_to_here = simt::warp_inclusive_sum(weight);
  const std::uint32_t passing = simt::ballot(weight > 0 && up_to_here > goal);
  const int lane = passing != 0 ? simt::lowest_bit(passing) : simt::highest_bit(simt::ballot(weight > 0));
  return {lane, simt::shuffle(up_to_here - weight, lane < 0 ? 0 : lane)};
}

/// The same among `count` weights that one thread has, `weight_at(i)`, of which `below` lies before the
/// first.
template <class WeightAt>
SPECLAB_DEVICE Found find_place(int count, double below, double goal, const WeightAt& weight_at) {
  Found found{-1, below};
  SPECLAB_UNROLL
  for (int i = 0; i < count; ++i) {
    const double weight = weight_at(i);
    if (!(weight > 0)) continue;
    found = {i, below};
    below += weight;
    if (below > goal) break;
  }
  return found;
}

/// Which tile, and how far into it.
struct TileChoice {
  std::int32_t tile;
  float reference;     ///< the tile's own
  double goal;         ///< in the tile's own units
  bool zero_residual;  ///< all weights are 0, and nothing was chosen
  bool invalid;
  LogSum row;  ///< of the target's weights, their sum
};

/// First level: the tile where the running sum passes the share of the total that the uniform says. By one
/// warp, each lane with a stretch of tiles; `weight_sum(t)` gives a tile's. One lane writes the choice.
template <class WeightSum>
SPECLAB_DEVICE void choose_tile(const VerifyBatch& batch, std::int64_t request, std::int32_t tiles,
                                const NextDistribution& distribution, bool bonus, const WeightSum& weight_sum,
                                TileChoice& choice) {
  const double u = uniform_of(batch, request, next_draw(bonus, distribution.position));
  const int lane = simt::thread_index() % simt::warp_size;
  const std::int32_t each = (tiles + simt::warp_size - 1) / simt::warp_size;
  const std::int32_t first = lane * each < tiles ? lane * each : tiles;
  const std::int32_t last = first + each < tiles ? first + each : tiles;
  float reference = -INFINITY;
  for (std::int32_t t = first; t < last; ++t) reference = fmaxf(reference, weight_sum(t).reference);
  reference = simt::warp_reduce(reference, [](float a, float b) { return fmaxf(a, b); });
  const auto factor = [&](const TileWeightSum& tile) {
    return tile.reference == reference || tile.sum == 0
               ? 1.0
               : exp2(static_cast<double>(tile.reference - reference));
  };
  const auto weight_of = [&](const TileWeightSum& tile) { return tile.sum * factor(tile); };
  double own = 0;
  for (std::int32_t t = first; t < last; ++t) own += weight_of(weight_sum(t));
  const double whole = simt::warp_sum(own);
  if (!(whole > 0) || !(whole - whole == 0)) {
    const bool zero_residual = distribution.weighing == Weighing::residual && whole == 0;
    if (lane == 0) choice = {0, 0, 0, zero_residual, !zero_residual, {}};
    return;
  }
  const double goal = u * whole;
  const Found of_lane = find_lane(own, goal);
  if (lane != of_lane.place) return;
  const Found found =
      find_place(last - first, of_lane.below, goal, [&](int i) { return weight_of(weight_sum(first + i)); });
  const TileWeightSum tile = weight_sum(first + found.place);
  choice = {first + found.place,
            tile.reference,
            (goal - found.below) / factor(tile),
            false,
            false,
            {reference, no_token, log2(whole)}};
}

/// Sums of a tile's weights in the order of its ids: of each warp in each step.
template <class T>
struct CellSums {
  static constexpr int cells = TileShape<T>::steps * tile_warps;
  double of_cell[cells];
};

/// Second level: the id within the tile. Steps follow one another, and in a step a thread's ids follow those
/// of the thread before it. All threads of the block; the one that holds the id calls `take(id)`. One `sync`
/// within.
template <class T, class Row, class Take>
SPECLAB_DEVICE void draw_in_tile(const WeightsOf<Row>& weights, const TileChoice& choice,
                                 CellSums<T>& scratch, const Take& take) {
  using Shape = TileShape<typename Row::Logit>;
  const int lane = simt::thread_index() % simt::warp_size;
  const int warp = simt::thread_index() / simt::warp_size;
  float weight[Shape::width];
  double of_thread = 0;
  double goal = choice.goal;
  int step = 0;
  // All steps are summed, and the chosen one is weighed once more: one loop, so that its instructions are
  // fetched once.
  SPECLAB_ROLLED
  for (int pass = 0; pass <= Shape::steps; ++pass) {
    step = pass;
    if (pass == Shape::steps) {
      simt::sync();
      // Every warp finds the cell for itself; the one whose cell it is goes on.
      constexpr int each = CellSums<T>::cells / simt::warp_size;
      const double* const cells = scratch.of_cell + lane * each;
      double own = 0;
      for (int i = 0; i < each; ++i) own += cells[i];
      const Found of_lane = find_lane(own, goal);
      const Found in_lane = find_place(each, of_lane.below, goal, [&](int i) { return cells[i]; });
      const int cell = of_lane.place * each + simt::shuffle(in_lane.place, of_lane.place);
      if (cell % tile_warps != warp) return;
      goal -= simt::shuffle(in_lane.below, of_lane.place);
      step = cell / tile_warps;
    }
    typename WeightsOf<Row>::Step mine = weights.begin(choice.tile, step);
    weights.of_step(choice.tile, step, choice.reference, mine, weight);
    of_thread = 0;
    SPECLAB_UNROLL
    for (int k = 0; k < Shape::width; ++k) of_thread += static_cast<double>(weight[k]);
    if (pass == Shape::steps) break;
    const double of_cell = simt::warp_sum(of_thread);
    if (lane == 0) scratch.of_cell[step * tile_warps + warp] = of_cell;
  }
  const Found of_threads = find_lane(of_thread, goal);
  if (lane != of_threads.place) return;
  const Found found = find_place(Shape::width, of_threads.below, goal,
                                 [&weight](int k) { return static_cast<double>(weight[k]); });
  take(Shape::first(choice.tile, step, simt::thread_index()) + found.place);
}

}  // namespace speclab

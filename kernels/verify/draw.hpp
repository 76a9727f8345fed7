// Draws from weights by inverting the CDF on three levels: a tile, a cell of it (tile.hpp), and an id in the
// cell.
#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/verify/weights.hpp"

namespace speclab {

/// The place among ordered weights into which a goal falls, and the sum of the weights before it.
struct Found {
  int place;
  double below;
};

/// Finds the lane of a warp into whose weight the goal falls. Sums in different orders may differ by a
/// rounding, so it takes the first lane whose running sum passes the goal, and if none does the last lane of
/// positive weight; -1 if all weights are 0.
SPECLAB_DEVICE inline Found find_lane(double weight, double goal) {
  const double up_to_here = simt::warp_inclusive_sum(weight);
  const std::uint32_t passing = simt::ballot(weight > 0 && up_to_here > goal);
  const int lane = passing != 0 ? simt::lowest_bit(passing) : simt::highest_bit(simt::ballot(weight > 0));
  return {lane, simt::shuffle(up_to_here - weight, lane < 0 ? 0 : lane)};
}

/// Finds the place among `count` weights of one thread, `weight_at(i)`, where the goal falls; `below` is the
/// sum before the first.
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

/// The chosen tile, and the remaining goal within it.
struct TileChoice {
  std::int32_t tile;
  float reference;     ///< the tile's reference
  double goal;         ///< goal within the tile, in the tile's units
  bool zero_residual;  ///< all weights are 0, and nothing was chosen
  bool invalid;
  float row_reference;  ///< reference of the sum of all tiles ...
  double row_weight;    ///< ... and that sum

  /// Returns the row's sum if the weights are the target's.
  SPECLAB_DEVICE LogSum row() const { return {row_reference, no_token, log2(row_weight)}; }
};

/// Makes the first level's choice: the tile in which the running sum passes u times the total, where u is the
/// uniform. One warp calls it, each lane takes consecutive tiles, and every lane gets the choice;
/// `weight_sum(t)` gives a tile's sum.
template <class WeightSum>
SPECLAB_DEVICE TileChoice choose_tile(const VerifyBatch& batch, std::int64_t request, std::int32_t tiles,
                                      const NextDistribution& distribution, bool bonus,
                                      const WeightSum& weight_sum) {
  const double u = uniform_of(batch, request, next_draw(bonus, distribution.position));
  const int lane = simt::thread_index() % simt::warp_size;
  const std::int32_t each = (tiles + simt::warp_size - 1) / simt::warp_size;
  const std::int32_t first = lane * each < tiles ? lane * each : tiles;
  const std::int32_t last = first + each < tiles ? first + each : tiles;
  float reference = -INFINITY;
  SPECLAB_ROLLED
  for (std::int32_t t = first; t < last; ++t) reference = fmaxf(reference, weight_sum(t).reference);
  reference = simt::warp_reduce(reference, [](float a, float b) { return fmaxf(a, b); });
  const float scale = row_scale(batch, true, request, distribution.position).scale;
  const auto factor = [&](const TileWeightSum& tile) {
    return tile.sum == 0 ? 1.0 : static_cast<double>(relative_weight(tile.reference, scale, reference));
  };
  const auto weight_of = [&](const TileWeightSum& tile) { return tile.sum * factor(tile); };
  double own = 0;
  SPECLAB_ROLLED
  for (std::int32_t t = first; t < last; ++t) own += weight_of(weight_sum(t));
  const double whole = simt::warp_sum(own);
  if (!(whole > 0) || !(whole - whole == 0)) {
    const bool zero_residual = distribution.weighing == Weighing::residual && whole == 0;
    return {0, 0, 0, zero_residual, !zero_residual, reference, whole};
  }
  const double goal = u * whole;
  const Found of_lane = find_lane(own, goal);
  TileChoice choice{0, 0, 0, false, false, reference, whole};
  if (lane == of_lane.place) {
    const Found found = find_place(last - first, of_lane.below, goal,
                                   [&](int i) { return weight_of(weight_sum(first + i)); });
    const TileWeightSum tile = weight_sum(first + found.place);
    choice.tile = first + found.place;
    choice.reference = tile.reference;
    choice.goal = (goal - found.below) / factor(tile);
  }
  choice.tile = simt::shuffle(choice.tile, of_lane.place);
  choice.reference = simt::shuffle(choice.reference, of_lane.place);
  choice.goal = simt::shuffle(choice.goal, of_lane.place);
  return choice;
}

/// Makes the second and third level's choices: the cell within the tile (`cell(i)` gives its weight) and the
/// id within the cell. All threads of the block call it. Every warp finds the cell for itself; the warp that
/// holds the cell goes on, and the thread that holds the id calls `take(id)`.
template <class Row, class Cell, class Take>
SPECLAB_DEVICE void draw_in_tile(const WeightsOf<Row>& weights, const TileChoice& choice, const Cell& cell,
                                 const Take& take) {
  using Shape = typename WeightsOf<Row>::Shape;
  const int lane = simt::thread_index() % simt::warp_size;
  const int warp = simt::thread_index() / simt::warp_size;
  double cells[Shape::lane_cells];
  double own = 0;
  SPECLAB_UNROLL
  for (int i = 0; i < Shape::lane_cells; ++i) {
    cells[i] = static_cast<double>(cell(lane * Shape::lane_cells + i));
    own += cells[i];
  }
  const Found of_lane = find_lane(own, choice.goal);
  const Found in_lane =
      find_place(Shape::lane_cells, of_lane.below, choice.goal, [&](int i) { return cells[i]; });
  const int found = of_lane.place * Shape::lane_cells + simt::shuffle(in_lane.place, of_lane.place);
  const double goal = choice.goal - simt::shuffle(in_lane.below, of_lane.place);
  if (found % tile_warps != warp) return;

  const int step = found / tile_warps;
  typename WeightsOf<Row>::Step mine = weights.begin(choice.tile, step);
  float weight[Shape::width];
  weights.of_step(choice.tile, step, choice.reference, mine, weight);
  double of_thread = 0;
  SPECLAB_UNROLL
  for (int k = 0; k < Shape::width; ++k) of_thread += static_cast<double>(weight[k]);
  const Found of_threads = find_lane(of_thread, goal);
  if (lane != of_threads.place) return;
  const Found place = find_place(Shape::width, of_threads.below, goal,
                                 [&weight](int k) { return static_cast<double>(weight[k]); });
  take(Shape::first(choice.tile, step, simt::thread_index()) + place.place);
}

}  // namespace speclab

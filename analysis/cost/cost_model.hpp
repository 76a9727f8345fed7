// The time of one run of a model: constant (Leviathan et al. 2023), measured, or by the roofline.
#pragma once

#include <span>
#include <variant>
#include <vector>

#include "analysis/cost/roofline.hpp"

namespace speclab {

/// Every run takes the same time for any tokens and sequences: a target run 1, a draft run c (Leviathan et
/// al. 2023, section 3.3, "enough compute resources").
struct ConstantCost {
  double ms = 1;
};

/// One measurement: a run over `tokens` positions of each of `batch` sequences took `ms` milliseconds.
struct MeasuredPoint {
  double tokens = 1;
  double batch = 1;
  double ms = 0;
};

/// Measured times on a complete grid of tokens and batches; between grid points the time is bilinear. Below
/// the grid it is the first value; beyond the grid the last slope continues if it is positive. The context
/// length is that of the measurement.
class MeasuredCost {
 public:
  /// Throws std::invalid_argument if there are no points, a number is not positive, a point is given twice,
  /// or (tokens, batch) of the grid is missing.
  explicit MeasuredCost(std::span<const MeasuredPoint> points);

  double ms(double tokens, double batch) const;

 private:
  std::vector<double> tokens_;   ///< increasing
  std::vector<double> batches_;  ///< increasing
  std::vector<double> ms_;       ///< by tokens, then batch
};

struct RooflineCost {
  Machine machine;
  Transformer model;
};

using CostModel = std::variant<ConstantCost, MeasuredCost, RooflineCost>;

/// Returns milliseconds of one run; for ConstantCost, in its own unit.
double run_ms(const CostModel& cost, const Run& run);

}  // namespace speclab

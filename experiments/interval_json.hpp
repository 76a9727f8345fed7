// How results write intervals, and what is made of them.
#pragma once

#include <optional>
#include <vector>

#include "analysis/statistics/estimates.hpp"
#include "analysis/statistics/intervals.hpp"
#include "experiments/format/shape.hpp"

namespace speclab {

/// [estimate, low, high].
inline Json interval_json(const Interval& interval) {
  return Json::array({interval.estimate, interval.low, interval.high});
}

/// The same, or null.
inline Json interval_json(const std::optional<Interval>& interval) {
  return interval ? interval_json(*interval) : Json();
}

/// Acceptance at each drafted position, 1 to gamma.
inline Json positions_json(const std::vector<Tally>& batches, int gamma, double confidence) {
  Json positions = Json::array();
  for (const PositionAcceptance& at : acceptance_by_position(batches, gamma, confidence)) {
    positions.push_back(
        {{"unconditional", interval_json(at.unconditional)}, {"conditional", interval_json(at.conditional)}});
  }
  return positions;
}

}  // namespace speclab

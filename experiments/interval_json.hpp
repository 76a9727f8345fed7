// How results write an interval.
#pragma once

#include "speclab/analysis/intervals.hpp"
#include "speclab/experiments/format/shape.hpp"

namespace speclab {

/// [estimate, low, high].
inline Json interval_json(const Interval& interval) {
  return Json::array({interval.estimate, interval.low, interval.high});
}

}  // namespace speclab

// Where a value stands on an axis, and which values are written beside it.
#pragma once

#include <string>
#include <vector>

#include "experiments/base/page/figure.hpp"

namespace speclab {

/// "0.25", "10000", "10⁵", "3·10⁻⁶".
std::string tick_text(double value);

/// A length in units of the drawing, on which values from range.low to range.high stand.
struct Axis {
  AxisRange range;
  bool logarithmic = false;
  double from = 0;                  ///< the place of range.low
  double to = 1;                    ///< the place of range.high, which may be below `from`
  std::vector<double> values = {};  ///< the only ones that ticks may stand at, increasing; none: any

  double place(double value) const;
};

/// False where the ends differ by rounding alone: there may be no numbers between them to write at an axis.
bool apart(const AxisRange& range);
/// What `values` (those that are finite, and positive on a logarithmic axis) need, with a margin; from 0
/// where that is near. 0 to 1 without values.
AxisRange range_of(const std::vector<double>& values, bool logarithmic);

/// Round values within the axis, increasing: at most `most`, at least two where there are any; whole ones
/// alone with `whole`. Of an axis with `values` those that are round where three or more are, else all that
/// are not too near to the one before.
std::vector<double> ticks_of(const Axis& axis, int most, bool whole);

}  // namespace speclab

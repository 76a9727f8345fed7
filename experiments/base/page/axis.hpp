// Places values on an axis and chooses its ticks.
#pragma once

#include <string>
#include <vector>

#include "experiments/base/page/figure.hpp"

namespace speclab {

/// Returns the text of a tick: "0.25", "10000", "10⁵", "3·10⁻⁶".
std::string tick_text(double value);

/// Maps the values from range.low to range.high to a length in units of the drawing.
struct Axis {
  AxisRange range;
  bool logarithmic = false;
  double from = 0;                  ///< place of range.low
  double to = 1;                    ///< place of range.high, which may be below `from`
  std::vector<double> values = {};  ///< the only values that may have ticks, increasing; empty: any value may

  double place(double value) const;
};

/// Returns false if the ends differ only by rounding, so that there may be no ticks between them.
bool apart(const AxisRange& range);
/// Returns the range that shows `values` with a margin; it starts at 0 if 0 is near. Ignores values that are
/// not finite and, on a logarithmic axis, not positive. Returns 0 to 1 (0.1 to 1 on a logarithmic axis) if
/// there are no values.
AxisRange range_of(const std::vector<double>& values, bool logarithmic);

/// Returns at most `most` round values within the axis, increasing, and at least two if there are any; only
/// whole numbers if `whole`. If the axis has `values`, returns the round ones among them if there are at
/// least three, else all that are far enough apart.
std::vector<double> ticks_of(const Axis& axis, int most, bool whole);

}  // namespace speclab

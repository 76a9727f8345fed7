// Describes an interval as result.json holds it.
#pragma once

#include "analysis/statistics/intervals.hpp"
#include "experiments/base/format/fields.hpp"

namespace speclab {

/// {"value", "low", "high"}; a bound that is not finite is null.
template <>
const Typed<Interval>& described();

}  // namespace speclab

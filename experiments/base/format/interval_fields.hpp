// An interval as it stands in result.json.
#pragma once

#include "analysis/statistics/intervals.hpp"
#include "experiments/base/format/fields.hpp"

namespace speclab {

/// {"value", "low", "high"}; a bound that is not finite is null.
template <>
const Typed<Interval>& described();

}  // namespace speclab

// Names that a config uses in its tables and figures.
#pragma once

#include "experiments/format/shape.hpp"

namespace speclab {

/// Each must be a metric, or a path that a case or the sweep sets; printed values must be numbers. Throws
/// ConfigError.
void check_names(const Json& resolved);

}  // namespace speclab

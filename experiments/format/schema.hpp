// The format as JSON Schema.
#pragma once

#include "experiments/format/shape.hpp"

namespace speclab {

/// JSON Schema (draft 2020-12) of a config.
Json json_schema();

}  // namespace speclab

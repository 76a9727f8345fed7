// Parts of configs that stay JSON: values that "cases" and "sweep" set by path.
#pragma once

#include <memory>

#include "experiments/config/fields.hpp"

namespace speclab {

/// Any value, as it stands.
const Typed<std::shared_ptr<const Json>>& any_json();

}  // namespace speclab

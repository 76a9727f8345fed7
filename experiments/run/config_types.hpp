// The types of values of a config by their JSON pointers, as "cases" and "sweep" name them.
#pragma once

#include <string>

#include "experiments/format/type.hpp"

namespace speclab {

/// The type at a JSON pointer below the config, null when there is none; the pointer's steps get their
/// present names.
const Type* type_at(std::string& pointer);

}  // namespace speclab

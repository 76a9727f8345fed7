// The config format as JSON Schema.
#pragma once

#include <vector>

#include "experiments/config/family.hpp"

namespace speclab {

/// The format of configs (draft 2020-12), with a definition for each family.
Json json_schema(const std::vector<const FamilyBase*>& families);

}  // namespace speclab

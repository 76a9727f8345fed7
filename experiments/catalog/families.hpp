// Lists every family of kinds, for `speclab list`, `schema` and the reference page.
#pragma once

#include <vector>

#include "experiments/base/format/family.hpp"

namespace speclab {

const std::vector<const FamilyBase*>& families();

}  // namespace speclab

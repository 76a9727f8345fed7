// Any verification rule, as one value, visited once per run.
#pragma once

#include <variant>

#include "speclab/core/rules.hpp"

namespace speclab {

using AnyRule = std::variant<TokenRule, LenienceRule, GreedyLenienceRule, AcceptAllFault, ResampleTargetFault,
                             SwappedResidualFault>;

}  // namespace speclab

// From the name and parameters of a verifier to its rule.
#pragma once

#include <cstdint>

#include "experiments/format/shape.hpp"
#include "sim/any_rule.hpp"

namespace speclab {

/// The rule that a checked verifier object names. gamma is the depth of trees. Throws ConfigError at
/// /verifier for a tree that is too large or that contradicts itself.
AnyRule make_rule(const Json& spec, std::int32_t gamma);

/// Whether that rule promises the target's distribution for a target of this temperature: what `speclab prove
/// --all` holds it to in exact arithmetic. Faults promise nothing.
bool lossless(const Json& spec, double temperature);

}  // namespace speclab

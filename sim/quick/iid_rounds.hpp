// Rounds whose acceptances are independent coins of one probability: no models, only how many drafted tokens
// each round keeps, which is a geometric law cut off at gamma (Leviathan et al. 2023, section 3.1).
#pragma once

#include <cstddef>
#include <cstdint>

#include "speclab/sim/control.hpp"
#include "speclab/sim/plan.hpp"

namespace speclab {

/// plan.trials times plan.length rounds of gamma drafted tokens; a token is accepted with probability
/// `alpha`. A round takes one 64-bit number: at least k tokens are kept when it is below alpha^k * 2^64,
/// rounded, so that each probability is right to 2^-64 beyond its own rounding. Rounds 2 b and 2 b + 1 of a
/// trial use the two words of block b at Use::iid. The tally's overlaps are alpha.
Outcome decode_iid(double alpha, std::int32_t gamma, const Plan& plan, const Control& control = {});

}  // namespace speclab

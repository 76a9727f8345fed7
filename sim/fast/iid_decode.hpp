// Rounds whose acceptances are independent coins of one probability: no models, only how many drafted tokens
// each round keeps, which is a geometric law cut off at gamma (Leviathan et al. 2023, section 3.1).
#pragma once

#include <cstddef>
#include <cstdint>

#include "sim/control.hpp"
#include "sim/simulation_size.hpp"

namespace speclab {

/// plan.trials times plan.length rounds of gamma drafted tokens; a token is accepted with probability
/// `alpha`. core/iid_rounds.hpp says which number decides a round. The tally's overlaps are alpha.
Outcome decode_iid(double alpha, std::int32_t gamma, const Plan& plan, const Control& control = {});

}  // namespace speclab

// Simulates rounds whose acceptances are independent with one probability. There are no models; the number of
// drafted tokens that each round accepts has a geometric distribution cut off at gamma (Leviathan et al.
// 2023, section 3.1).
#pragma once

#include <cstdint>

#include "sim/control.hpp"
#include "sim/simulation_size.hpp"

namespace speclab {

/// Simulates simulation.trials times simulation.length rounds of gamma drafted tokens; each token is accepted
/// with probability `alpha`. core/round/iid_lengths.hpp defines which random number decides a round. The
/// tally's overlaps are alpha.
Outcome decode_iid(double alpha, std::int32_t gamma, const SimulationSize& simulation,
                   const Control& control = {});

}  // namespace speclab

// Measures which of several siblings the target accepts, for choosing the shape of a static tree.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/models/model.hpp"
#include "sim/simulation_size.hpp"

namespace speclab {

/// Returns P(the b-th sibling is the one accepted), b = 0 .. siblings - 1, for siblings drawn without
/// replacement and verified by recursive rejection (Chen et al. 2024, "Sequoia", positional acceptance). It
/// is measured over the contexts of plan.trials * plan.length tokens that the target generates without
/// speculation.
std::vector<double> measure_rank_acceptance(const Model& target, const Model& draft, std::int32_t siblings,
                                            const SimulationSize& simulation);

}  // namespace speclab

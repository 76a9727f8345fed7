// Computes stationary distributions without iteration, for chains that are small enough.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/exact/transitions.hpp"

namespace speclab {

/// Above this number of states iteration is faster: the cost grows as the cube.
inline constexpr std::int32_t max_direct_states = 128;

/// Returns the long-run distribution of a chain with these dense, stochastic transitions from `start` (the
/// average over time if the chain is periodic). Uses the elimination of Grassmann, Taksar and Heyman (1985),
/// which only adds, multiplies and divides non-negative numbers: every probability has a relative error of
/// about states * 2^-52, even if the chain's parts hardly communicate.
std::vector<double> direct_stationary(Transitions transitions, std::vector<double> start);

}  // namespace speclab

// Stationary distributions without iteration, for chains that are small enough.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analysis/exact/transitions.hpp"

namespace speclab {

/// Above this many states iteration is faster: the cost grows as the cube.
inline constexpr std::int32_t max_direct_states = 128;

/// The long-run distribution of a chain with these dense, stochastic transitions from `start` (its average
/// over time, where the chain is periodic). By the elimination of Grassmann, Taksar and Heyman (1985), which
/// only adds, multiplies and divides non-negative numbers: every probability is right to about states * 2^-52
/// of itself, however rarely the chain goes from one part to another.
std::vector<double> direct_stationary(Transitions transitions, std::vector<double> start);

}  // namespace speclab

// Decides many tests jointly.
#pragma once

#include <span>
#include <vector>

namespace speclab {

/// Returns adjusted p-values in the order given (Holm 1979). Rejecting those <= level keeps the probability
/// of any false rejection below level, for any dependence between the tests.
std::vector<double> holm_adjusted(std::span<const double> p_values);

}  // namespace speclab

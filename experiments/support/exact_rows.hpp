// Rows of probabilities as exact fractions.
#pragma once

#include <vector>

#include "analysis/exact/rational.hpp"

namespace speclab {

/// Probability rows, exactly: one row (context-free), or vocab^n rows for the contexts of n tokens.
using ExactRows = std::vector<std::vector<Rational>>;

}  // namespace speclab

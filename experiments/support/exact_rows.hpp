// Rows of probabilities as exact fractions.
#pragma once

#include <boost/multiprecision/cpp_int.hpp>
#include <vector>

namespace speclab {

using Rational = boost::multiprecision::cpp_rational;

/// Probability rows, exactly: one row (context-free), or vocab^n rows for the contexts of n tokens.
using ExactRows = std::vector<std::vector<Rational>>;

}  // namespace speclab

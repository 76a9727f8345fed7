// Rows of probabilities as exact fractions.
#pragma once

#include <vector>

#include "analysis/exact/rational.hpp"

namespace speclab {

/// Exact probability rows: one row (context-free), or vocab^n rows for the contexts of n tokens.
using ExactRows = std::vector<std::vector<Rational>>;

/// Divides each row by its sum, which must be positive.
inline void normalise_exactly(ExactRows& rows) {
  for (std::vector<Rational>& row : rows) {
    Rational total(0);
    for (const Rational& weight : row) total += weight;
    for (Rational& weight : row) weight /= total;
  }
}

}  // namespace speclab

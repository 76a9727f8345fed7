// Solves sparse systems of linear equations in exact fractions.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "analysis/exact/rational.hpp"

namespace speclab {

/// Coefficients by index.
using SparseVector = std::vector<std::pair<int, Rational>>;

/// Returns x with sum over j of x[j] columns[j] = right, for as many columns as equations; none if the
/// columns are linearly dependent. Pivots for least fill-in: fast if a permutation is nearly triangular, as
/// for bases of transport problems.
std::optional<std::vector<Rational>> solve_exactly(const std::vector<SparseVector>& columns,
                                                   std::vector<Rational> right);

}  // namespace speclab

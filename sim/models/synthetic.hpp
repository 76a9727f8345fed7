// Synthetic distributions for table models. Every row sums to 1.
#pragma once

#include <cstdint>
#include <vector>

namespace speclab {

/// Returns a row with probability(id) proportional to 1 / (id + 1)^exponent; `reversed` counts ids from the
/// other end.
std::vector<double> zipf_row(std::int32_t vocab, double exponent, bool reversed);

std::vector<double> uniform_row(std::int32_t vocab);

/// Returns `rows` rows drawn from a symmetric Dirichlet(concentration), addressed by (seed, row index).
std::vector<double> dirichlet_rows(std::int32_t vocab, std::uint32_t rows, double concentration,
                                   std::uint64_t seed);

/// Returns a row with all probability on one id.
std::vector<double> point_row(std::int32_t vocab, std::int32_t id);

}  // namespace speclab

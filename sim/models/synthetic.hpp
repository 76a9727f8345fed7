// Synthetic distributions for table models. Every row sums to 1.
#pragma once

#include <cstdint>
#include <vector>

namespace speclab {

/// probability(id) proportional to 1 / (id + 1)^exponent; `reversed` counts ids from the other end.
std::vector<double> zipf_row(std::int32_t vocab, double exponent, bool reversed);

std::vector<double> uniform_row(std::int32_t vocab);

/// `rows` rows drawn from a symmetric Dirichlet(concentration), addressed by (seed, row index).
std::vector<double> dirichlet_rows(std::int32_t vocab, std::uint32_t rows, double concentration,
                                   std::uint64_t seed);

/// All probability on one id.
std::vector<double> point_row(std::int32_t vocab, std::int32_t id);

}  // namespace speclab

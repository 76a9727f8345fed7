// How many requests a benchmark needs to tell two settings apart.
#pragma once

#include <cstdint>

#include "sim/serving/acceptance_law.hpp"

namespace speclab {

/// A number that each request has, such as its time a token.
struct PerRequest {
  double mean = 0;
  double deviation = 0;  ///< standard deviation between requests
};

/// Target steps a token of requests of `output` tokens with `gamma` drafted tokens: what TPOT is in
/// proportion to where steps take one time. A request's rate is Beta(mean alpha, deviation `spread`); given
/// the rate, rounds are a renewal process, whose count over n tokens has variance n v / m^3 with m and v the
/// mean and the variance of a round's tokens (Cox 1962, Renewal Theory, section 4.2; exact as n grows).
/// 0 < alpha < 1, spread^2 < alpha (1 - alpha), output >= 2.
PerRequest steps_a_token(double alpha, double spread, std::uint32_t gamma, double output);

/// Requests of each of two settings, such that a two-sided test of their means at level 1 - `confidence`
/// finds the difference with probability `power`: (z_(1 - level / 2) + z_power)^2 (s_1^2 + s_2^2) / (m_1 -
/// m_2)^2, at least 2. Infinite where the means are equal.
double requests_needed(const PerRequest& first, const PerRequest& second, double confidence, double power);

/// The smallest relative difference of means that `requests` of each setting find with that power, where both
/// have this deviation.
double difference_found(const PerRequest& both, double requests, double confidence, double power);

}  // namespace speclab

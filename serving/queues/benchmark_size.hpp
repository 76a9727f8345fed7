// How many requests a benchmark needs to tell two settings apart.
#pragma once

#include <cstdint>

#include "serving/server/acceptance_law.hpp"

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

/// The setting that is faster by `difference` (0.1: 10%), where times vary as much relative to their mean.
PerRequest faster(const PerRequest& one, double difference);

/// The probability that Student's two-sided t-test of two means, with `requests` requests of each setting, at
/// level 1 - `confidence` finds them unequal: that of a noncentral t with 2 requests - 2 degrees of freedom
/// and noncentrality |m_1 - m_2| sqrt(requests / (s_1^2 + s_2^2)) (Johnson and Welch 1940). It is exact for
/// normal numbers of equal deviations, and, as both settings have as many requests, nearly so for unequal
/// ones. requests >= 2; deviations above 0.
double power_of(const PerRequest& first, const PerRequest& second, double requests, double confidence);

/// The fewest requests of each setting, at least 2, with which that test has this power. Infinite where the
/// means are equal.
double requests_needed(const PerRequest& first, const PerRequest& second, double confidence, double power);

/// The smallest difference, as of `faster`, that `requests` of each setting find with that power. Infinite
/// where they find none, however large.
double difference_found(const PerRequest& one, double requests, double confidence, double power);

}  // namespace speclab

// Computes how many requests a benchmark needs to tell two settings apart.
#pragma once

#include <cstdint>

#include "serving/server/acceptance_law.hpp"

namespace speclab {

/// A number per request, such as its time per token.
struct PerRequest {
  double mean = 0;
  double deviation = 0;  ///< standard deviation across requests
};

/// Returns target steps per token for requests of `output` tokens with `gamma` drafted tokens; TPOT is
/// proportional to it if all steps take equal time. A request's rate is Beta with mean alpha and standard
/// deviation `spread`. Given the rate, rounds are a renewal process, whose count over n tokens has variance n
/// v / m^3 (m, v: mean and variance of a round's tokens; Cox 1962, Renewal Theory, section 4.2; exact as n
/// grows). 0 < alpha < 1, spread^2 < alpha (1 - alpha), output >= 2.
PerRequest steps_a_token(double alpha, double spread, std::uint32_t gamma, double output);

/// Returns a setting that is faster by `difference` (0.1: 10%), with the same relative standard deviation.
PerRequest faster(const PerRequest& one, double difference);

/// Returns the power of Student's two-sided t-test of two means at level 1 - `confidence`, with `requests`
/// requests per setting: by a noncentral t with 2 requests - 2 degrees of freedom and noncentrality |m_1 -
/// m_2| sqrt(requests / (s_1^2 + s_2^2)) (Johnson and Welch 1940). It is exact for normal numbers with equal
/// deviations and, since both settings have as many requests, nearly so for unequal ones. requests >= 2;
/// deviations above 0.
double power_of(const PerRequest& first, const PerRequest& second, double requests, double confidence);

/// Returns the fewest requests per setting, at least 2, with which that test has this power; infinite for
/// equal means.
double requests_needed(const PerRequest& first, const PerRequest& second, double confidence, double power);

/// Returns the smallest difference (as in `faster`) that `requests` requests per setting find with that
/// power; infinite if none.
double difference_found(const PerRequest& one, double requests, double confidence, double power);

}  // namespace speclab

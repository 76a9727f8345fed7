// Checks log-probabilities from any source.
#pragma once

#include <cstddef>
#include <string>

namespace speclab {

/// Returns a natural logarithm of a probability: at most 0, or -infinity. A value above 0 by rounding (1e-4)
/// becomes 0. Throws UsageError ("where: what is 0.3; ...") for other values, and for -9999 and less, which
/// servers write for a missing value.
double checked_log(double value, const std::string& where, const std::string& what);

/// Returns the target's log-probability of a token that it generated. Throws UsageError for -infinity, since
/// a token with probability 0 is never generated.
double target_log(double value, const std::string& where, std::size_t token);

}  // namespace speclab

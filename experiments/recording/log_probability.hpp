// Checks log-probabilities from any source.
#pragma once

#include <cstddef>
#include <string>

namespace speclab {

/// Returns the natural logarithm of a probability: at most 0, or -infinity. Values above 0 by rounding (1e-4)
/// become 0. Throws UsageError ("where: what is 0.3; ...") for other values, and for -9999 and less, which
/// servers write for missing values.
double checked_log(double value, const std::string& where, const std::string& what);

/// Returns the target's log-probability of a token that it generated. Throws UsageError for -infinity: such a
/// token cannot have been generated.
double target_log(double value, const std::string& where, std::size_t token);

}  // namespace speclab

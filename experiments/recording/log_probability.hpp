// Checks of log-probabilities, wherever they were read.
#pragma once

#include <cstddef>
#include <string>

namespace speclab {

/// A natural logarithm of a probability: at most 0, or above it by rounding (1e-4), which gives 0; -infinity
/// is one. Throws UsageError ("where: what is 0.3; ...") for others, and for -9999 and less, which servers
/// write where they have none.
double checked_log(double value, const std::string& where, const std::string& what);

/// The target's log-probability of a token that it generated; throws UsageError for -infinity: what has
/// probability 0 is not generated.
double target_log(double value, const std::string& where, std::size_t token);

}  // namespace speclab

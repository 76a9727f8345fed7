#include "experiments/recording/log_probability.hpp"

#include <cmath>

#include "experiments/base/format/config_error.hpp"

namespace speclab {

constexpr double rounding = 1e-4;
constexpr double missing = -9999;

double checked_log(double value, const std::string& where, const std::string& what) {
  if (std::isnan(value) || value > rounding) {
    throw UsageError("{}: {} is {}; expected a natural logarithm of a probability, which is at most 0", where,
                     what, value);
  }
  if (value <= missing && std::isfinite(value)) {
    throw UsageError(
        "{}: {} is {}, which servers write where they have none; ask for the log-probability of every token, or write -inf where it is 0",
        where, what, value);
  }
  return value > 0 ? 0 : value;
}

double target_log(double value, const std::string& where, std::size_t token) {
  if (std::isfinite(value)) return value;
  throw UsageError(
      "{}: token {} has probability 0 under the target (logp -inf), so the target did not generate it; record the log-probabilities that the text was sampled with",
      where, token);
}

}  // namespace speclab

// Estimates the acceptance rate from a log with only the mean number of accepted tokens per round, under the
// i.i.d. assumption of Leviathan et al. 2023.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "analysis/statistics/intervals.hpp"

namespace speclab {

/// Returns the expected accepted tokens of a round, alpha + alpha^2 + ... + alpha^gamma (Leviathan et al.
/// 2023, Eq. 1, less the token that every round emits). A fractional gamma is a mixture of rounds of both
/// neighbouring lengths with this mean. 0 <= alpha <= 1, gamma >= 0.
double mean_accepted(double alpha, double gamma);

/// Returns the alpha at which `mean_accepted` is `mean`, by bisection; 1 if the mean is gamma or more.
double alpha_of_mean(double mean, double gamma);

/// Weights of rounds by their number of drafted tokens.
using DraftLengths = std::map<std::uint64_t, double>;

/// Returns alpha from `rounds` independent rounds (1 or more) of these lengths;
/// `mean` is the mean number of accepted tokens. A score interval (as Wilson 1927 for a proportion): it
/// contains the alphas under which the mean is within the normal quantile times its standard deviation of its
/// expectation, and stays within 0 and 1.
Interval alpha_of_mean(double mean, const DraftLengths& lengths, std::uint64_t rounds, double confidence);

/// Means and sums of a log that distinguishes neither rounds nor positions.
struct LoggedMeans {
  std::uint64_t rounds = 0;  ///< 0 if the log does not count them
  double drafted = 0;        ///< mean per round
  double accepted = 0;       ///< mean per round
  /// If rounds are not counted: the mean accepted tokens per round in each line of the log, and each line's
  /// weight.
  std::vector<double> accepted_by_line = {};
  std::vector<double> weights = {};
  DraftLengths lengths = {};  ///< of counted rounds; empty: all have the mean length
};

/// Returns alpha from a log's means by alpha_of_mean. If rounds are not counted, the interval is
/// bounded_ratio_interval with a batch per line of the log, and unbounded if that is.
Interval alpha_of_means(const LoggedMeans& means, double confidence);

}  // namespace speclab

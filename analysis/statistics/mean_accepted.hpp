// Estimates the acceptance rate of a log that counts tokens but neither rounds' results nor positions: from
// the mean number of accepted tokens per round, under the i.i.d. assumption of Leviathan et al. 2023.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/statistics/intervals.hpp"

namespace speclab {

/// Returns the expected accepted tokens of a round, alpha + alpha^2 + ... + alpha^gamma (Leviathan et al.
/// 2023, Eq. 1, less the token that every round emits). For a gamma between two integers, returns the mixture
/// of rounds of both lengths that has this mean length. 0 <= alpha <= 1, gamma >= 0.
double mean_accepted(double alpha, double gamma);

/// Returns the alpha at which `mean_accepted` is `mean`, by bisection; 1 if the mean is gamma or more.
double alpha_of_mean(double mean, double gamma);

/// Returns alpha from `rounds` independent rounds (1 or more) of mean length gamma; `mean` is the mean number
/// of accepted tokens. The interval contains the alphas under which the mean is no further from its
/// expectation than the normal quantile times its standard deviation (a score interval, as Wilson 1927 for a
/// proportion), so that it stays within 0 and 1.
Interval alpha_of_mean(double mean, double gamma, std::uint64_t rounds, double confidence);

/// Means and sums of a log that distinguishes neither rounds nor positions.
struct LoggedMeans {
  std::uint64_t rounds = 0;  ///< 0 if the log does not count them
  double drafted = 0;        ///< mean per round
  double accepted = 0;       ///< mean per round
  /// If rounds are not counted: the mean accepted tokens per round in each line of the log, and each line's
  /// weight.
  std::vector<double> accepted_by_line = {};
  std::vector<double> weights = {};
};

/// Returns alpha of such a log: as above; if rounds are not counted, with its lines as stretches, each a
/// batch of bounded_ratio_interval. Unbounded if that interval is.
Interval alpha_of_means(const LoggedMeans& means, double confidence);

}  // namespace speclab

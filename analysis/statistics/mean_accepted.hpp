// The acceptance rate of a log that counts tokens but neither rounds' results nor positions: from the mean
// number of accepted tokens a round, under the i.i.d. assumption of Leviathan et al. 2023.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/statistics/intervals.hpp"

namespace speclab {

/// Expected accepted tokens of a round, alpha + alpha^2 + ... + alpha^gamma (Leviathan et al. 2023, Eq. 1,
/// less the token that every round emits). For a gamma between two integers, the mixture of rounds of both
/// lengths that has this mean length. 0 <= alpha <= 1, gamma >= 0.
double mean_accepted(double alpha, double gamma);

/// The alpha at which `mean_accepted` is `mean`, by bisection; 1 when the mean is gamma or more.
double alpha_of_mean(double mean, double gamma);

/// alpha of `rounds` independent rounds (1 or more) of mean length gamma, of which `mean` tokens were
/// accepted on average. The interval holds the alphas under which the mean is no further from its expectation
/// than the normal quantile times its standard deviation (a score interval, as Wilson 1927 for a proportion),
/// so that it stays within 0 and 1.
Interval alpha_of_mean(double mean, double gamma, std::uint64_t rounds, double confidence);

/// Sums over rounds of a log that tells neither rounds nor positions apart.
struct LoggedMeans {
  std::uint64_t rounds = 0;  ///< 0 where the log does not count them
  double drafted = 0;        ///< a round
  double accepted = 0;       ///< a round
  /// The same by line, where the rounds are not counted: means of equal weight in what follows.
  std::vector<double> accepted_by_line = {};
  std::vector<double> weights = {};
};

/// alpha of such a log: as above, and where rounds are not counted with its lines as stretches, each a batch
/// of bounded_ratio_interval. Unbounded where that has no bounds.
Interval alpha_of_means(const LoggedMeans& means, double confidence);

}  // namespace speclab

#include "analysis/statistics/mean_accepted.hpp"

#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <cassert>
#include <cmath>

namespace speclab {

namespace {

struct Moments {
  double mean = 0;
  double variance = 0;
};

/// Returns moments of X = min(gamma, geometric variable) for rounds of these lengths: the mean, and the
/// variance of one of them, on average. E[X] and E[X^2] are the sums of P(X >= i) and of (2i - 1) P(X >= i).
Moments moments_of(double alpha, const DraftLengths& lengths) {
  assert(alpha >= 0 && alpha <= 1);
  Moments all;
  double weights = 0;
  for (const auto& [gamma, weight] : lengths) {
    double mean = 0;
    double square = 0;
    double reached = 1;
    for (std::uint64_t i = 1; i <= gamma; ++i) {
      reached *= alpha;
      mean += reached;
      square += (2 * real(i) - 1) * reached;
    }
    all.mean += weight * mean;
    all.variance += weight * std::max(square - mean * mean, 0.0);
    weights += weight;
  }
  return {all.mean / weights, all.variance / weights};
}

DraftLengths lengths_of(double gamma) {
  const double whole = std::floor(gamma);
  const auto length = static_cast<std::uint64_t>(whole);
  return {{length, 1 - (gamma - whole)}, {length + 1, gamma - whole}};
}

/// Returns the root of an increasing function to full precision; an end of the range if there is none.
template <class Function>
double crossing(double low, double high, const Function& rising) {
  return halved(low, high, 60, [&](double at) { return rising(at) < 0; }).second;
}

}  // namespace

double mean_accepted(double alpha, double gamma) { return moments_of(alpha, lengths_of(gamma)).mean; }

double alpha_of_mean(double mean, double gamma) {
  return alpha_of_mean(mean, lengths_of(gamma), 1, 0.5).estimate;
}

Interval alpha_of_mean(double mean, const DraftLengths& lengths, std::uint64_t rounds, double confidence) {
  assert(rounds > 0);
  const boost::math::normal_distribution<double> normal;
  const double quantile = boost::math::quantile(boost::math::complement(normal, (1 - confidence) / 2));
  const auto beyond = [&](double alpha, double side) {
    const Moments moments = moments_of(alpha, lengths);
    return moments.mean - mean + side * quantile * std::sqrt(moments.variance / real(rounds));
  };
  double estimate = mean <= 0 ? 0 : 1;
  if (mean > 0 && beyond(1, 0) > 0) estimate = crossing(0, 1, [&](double alpha) { return beyond(alpha, 0); });
  // If nothing is accepted, the lower bound is 0; if everything is, the upper bound is 1.
  const double low =
      estimate == 0 ? 0 : crossing(0, estimate, [&](double alpha) { return beyond(alpha, 1); });
  const double high =
      estimate == 1 ? 1 : crossing(estimate, 1, [&](double alpha) { return beyond(alpha, -1); });
  return {estimate, std::min(low, estimate), std::max(high, estimate)};
}

Interval alpha_of_means(const LoggedMeans& means, double confidence) {
  if (means.rounds > 0)
    return alpha_of_mean(means.accepted, means.lengths.empty() ? lengths_of(means.drafted) : means.lengths,
                         means.rounds, confidence);
  const auto alpha = [&](double mean) { return alpha_of_mean(mean, means.drafted); };
  std::vector<double> accepted;
  for (std::size_t i = 0; i < means.weights.size(); ++i)
    accepted.push_back(means.weights[i] * means.accepted_by_line[i]);
  const auto mean = bounded_ratio_interval(accepted, means.weights, {0, means.drafted}, confidence);
  if (!mean) return unbounded(alpha(means.accepted));
  return {alpha(means.accepted), alpha(std::max(mean->low, 0.0)), alpha(mean->high)};
}

}  // namespace speclab

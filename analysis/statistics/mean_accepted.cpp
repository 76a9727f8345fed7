#include "analysis/statistics/mean_accepted.hpp"

#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <cassert>
#include <cmath>

namespace speclab {

namespace {

struct Moments {
  double mean = 0;
  double square = 0;
};

/// Returns moments of X = min(gamma, geometric variable): E[X] and E[X^2] are the sums of P(X >= i) and of
/// (2i - 1) P(X >= i).
Moments whole_moments(double alpha, int gamma) {
  Moments moments;
  double reached = 1;
  for (int i = 1; i <= gamma; ++i) {
    reached *= alpha;
    moments.mean += reached;
    moments.square += (2 * i - 1) * reached;
  }
  return moments;
}

Moments mixed_moments(double alpha, double gamma) {
  assert(alpha >= 0 && alpha <= 1 && gamma >= 0);
  const int whole = static_cast<int>(std::floor(gamma));
  const double share = gamma - whole;
  Moments moments = whole_moments(alpha, whole);
  if (share > 0) {
    const Moments longer = whole_moments(alpha, whole + 1);
    moments.mean += share * (longer.mean - moments.mean);
    moments.square += share * (longer.square - moments.square);
  }
  return moments;
}

/// Returns the root of an increasing function to full precision; an end of the range if there is none.
template <class Function>
double crossing(double low, double high, const Function& rising) {
  constexpr int halvings = 60;
  for (int i = 0; i < halvings; ++i) {
    const double middle = (low + high) / 2;
    (rising(middle) < 0 ? low : high) = middle;
  }
  return high;
}

}  // namespace

double mean_accepted(double alpha, double gamma) { return mixed_moments(alpha, gamma).mean; }

double alpha_of_mean(double mean, double gamma) {
  if (mean <= 0) return 0;
  if (mean >= gamma) return 1;
  return crossing(0, 1, [&](double alpha) { return mean_accepted(alpha, gamma) - mean; });
}

Interval alpha_of_mean(double mean, double gamma, std::uint64_t rounds, double confidence) {
  assert(rounds > 0);
  const double estimate = alpha_of_mean(mean, gamma);
  const boost::math::normal_distribution<double> normal;
  const double quantile = boost::math::quantile(boost::math::complement(normal, (1 - confidence) / 2));
  const auto beyond = [&](double alpha, double side) {
    const Moments moments = mixed_moments(alpha, gamma);
    const double variance = std::max(moments.square - moments.mean * moments.mean, 0.0);
    return moments.mean - mean + side * quantile * std::sqrt(variance / real(rounds));
  };
  // If nothing is accepted, the lower bound is 0; if everything is, the upper bound is 1.
  const double low =
      estimate == 0 ? 0 : crossing(0, estimate, [&](double alpha) { return beyond(alpha, 1); });
  const double high =
      estimate == 1 ? 1 : crossing(estimate, 1, [&](double alpha) { return beyond(alpha, -1); });
  return {estimate, std::min(low, estimate), std::max(high, estimate)};
}

Interval alpha_of_means(const LoggedMeans& means, double confidence) {
  if (means.rounds > 0) return alpha_of_mean(means.accepted, means.drafted, means.rounds, confidence);
  const auto alpha = [&](double mean) { return alpha_of_mean(mean, means.drafted); };
  std::vector<double> accepted;
  for (std::size_t i = 0; i < means.weights.size(); ++i) {
    accepted.push_back(means.weights[i] * means.accepted_by_line[i]);
  }
  const auto mean = bounded_ratio_interval(accepted, means.weights, {0, means.drafted}, confidence);
  if (!mean) return unbounded(alpha(means.accepted));
  return {alpha(means.accepted), alpha(std::max(mean->low, 0.0)), alpha(mean->high)};
}

}  // namespace speclab

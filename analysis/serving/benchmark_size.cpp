#include "analysis/serving/benchmark_size.hpp"

#include <algorithm>
#include <boost/math/distributions/beta.hpp>
#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <limits>

namespace speclab {

namespace {

struct Moments {
  double mean = 0;
  double variance = 0;
};

/// Of the tokens of a round: 1 + min(Geometric, gamma).
Moments round_tokens(double alpha, std::uint32_t gamma) {
  double mean = 1;
  double second = 1;
  double all = 1;
  for (std::uint32_t j = 1; j <= gamma; ++j) {
    all *= alpha;
    mean += all;
    second += all * (2 * j + 1);  // (j + 1)^2 - j^2
  }
  return {mean, second - mean * mean};
}

double z_sum(double confidence, double power) {
  const boost::math::normal_distribution<double> normal;
  return boost::math::quantile(normal, 1 - (1 - confidence) / 2) + boost::math::quantile(normal, power);
}

}  // namespace

PerRequest steps_a_token(double alpha, double spread, std::uint32_t gamma, double output) {
  const double tokens = output - 1;  // the first comes from the prompt
  const auto within = [&](double rate, double& mean, double& variance) {
    const Moments round = round_tokens(rate, gamma);
    mean = 1 / round.mean;
    variance = round.variance / (round.mean * round.mean * round.mean * tokens);
  };
  double mean = 0;
  double variance = 0;
  if (spread == 0) {
    within(alpha, mean, variance);
    return {mean, std::sqrt(variance)};
  }
  // Over the middles of equal shares of requests.
  const RequestLaw law = beta_law(alpha, spread);
  const boost::math::beta_distribution<double> rates(law.a, law.b);
  constexpr int shares = 4000;
  double second = 0;
  double inside = 0;
  for (int i = 0; i < shares; ++i) {
    double own_mean = 0;
    double own_variance = 0;
    within(boost::math::quantile(rates, (i + 0.5) / shares), own_mean, own_variance);
    mean += own_mean / shares;
    second += own_mean * own_mean / shares;
    inside += own_variance / shares;
  }
  return {mean, std::sqrt(std::max(0.0, second - mean * mean) + inside)};
}

double requests_needed(const PerRequest& first, const PerRequest& second, double confidence, double power) {
  const double difference = first.mean - second.mean;
  if (difference == 0) return std::numeric_limits<double>::infinity();
  const double variances = first.deviation * first.deviation + second.deviation * second.deviation;
  const double z = z_sum(confidence, power);
  return std::max(2.0, std::ceil(z * z * variances / (difference * difference)));
}

double difference_found(const PerRequest& both, double requests, double confidence, double power) {
  return z_sum(confidence, power) * both.deviation * std::sqrt(2 / requests) / both.mean;
}

}  // namespace speclab

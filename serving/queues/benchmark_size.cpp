#include "serving/queues/benchmark_size.hpp"

#include <algorithm>
#include <boost/math/distributions/beta.hpp>
#include <cmath>
#include <limits>

#include "analysis/statistics/differences.hpp"

namespace speclab {

namespace {

struct Moments {
  double mean = 0;
  double variance = 0;
};

/// Returns the moments of the tokens of a round, 1 + min(Geometric, gamma).
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

}  // namespace

PerRequest steps_a_token(double alpha, double spread, std::uint32_t gamma, double output) {
  const double tokens = output - 1;  // the first token comes from the prompt
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
  // Averages over the midpoints of equal shares of requests.
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

PerRequest faster(const PerRequest& one, double difference) {
  return {one.mean / (1 + difference), one.deviation / (1 + difference)};
}

double power_of(const PerRequest& first, const PerRequest& second, double requests, double confidence) {
  const double deviation = std::hypot(first.deviation, second.deviation);
  return t_test_power(std::abs(first.mean - second.mean) / deviation * std::sqrt(requests), 2 * requests - 2,
                      confidence);
}

double requests_needed(const PerRequest& first, const PerRequest& second, double confidence, double power) {
  if (first.mean == second.mean) return std::numeric_limits<double>::infinity();
  double few = 1;
  double enough = 2;
  while (power_of(first, second, enough, confidence) < power) {
    few = enough;
    enough *= 2;
  }
  // Beyond 2^53 no double lies between two neighbours.
  for (;;) {
    const double middle = std::floor((few + enough) / 2);
    if (middle <= few || middle >= enough) return enough;
    (power_of(first, second, middle, confidence) < power ? few : enough) = middle;
  }
}

double difference_found(const PerRequest& one, double requests, double confidence, double power) {
  // A difference d has noncentrality d sqrt(requests) / (v sqrt((1 + d)^2 + 1)), where v is deviation / mean.
  // It never reaches sqrt(requests) / v.
  const double relative =
      t_test_noncentrality(2 * requests - 2, confidence, power) * one.deviation / one.mean;
  const double k = relative * relative / requests;
  if (!(k < 1)) return std::numeric_limits<double>::infinity();
  return (k + std::sqrt(2 * k - k * k)) / (1 - k);
}

}  // namespace speclab

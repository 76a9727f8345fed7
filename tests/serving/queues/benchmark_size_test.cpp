#include "serving/queues/benchmark_size.hpp"

#include <doctest/doctest.h>

#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <random>

#include "tests/bounds.hpp"

namespace speclab {
namespace {

/// Returns the steps per token of one request, simulated round by round.
double played(const AcceptanceDraws& draws, std::uint32_t request, std::uint32_t gamma,
              std::uint32_t output) {
  RequestAcceptance own = draws.begin(request);
  std::uint32_t out = 1;
  std::uint32_t rounds = 0;
  while (out < output) out += draws.accepted(own, request, rounds++, gamma) + 1;
  return static_cast<double>(rounds) / (output - 1);
}

PerRequest played_requests(const AcceptanceLaw& law, std::uint32_t gamma, std::uint32_t output,
                           std::uint32_t count) {
  const AcceptanceDraws draws(law, test_seed(41));
  double sum = 0;
  double squares = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    const double steps = played(draws, i, gamma, output);
    sum += steps;
    squares += steps * steps;
  }
  const double mean = sum / count;
  return {mean, std::sqrt(squares / count - mean * mean)};
}

RequestLaw beta(double mean, double spread) {
  const double concentration = mean * (1 - mean) / (spread * spread) - 1;
  return {mean * concentration, (1 - mean) * concentration};
}

/// Returns the bound beyond which Student's two-sided test rejects.
double t_bound(double degrees, double confidence) {
  const boost::math::students_t_distribution<double> law(degrees);
  return boost::math::quantile(boost::math::complement(law, (1 - confidence) / 2));
}

TEST_CASE("the steps a token of requests, and how they differ, are those of played requests") {
  for (const double spread : {0.0, 0.1, 0.2}) {
    CAPTURE(spread);
    const AcceptanceLaw law = spread == 0 ? AcceptanceLaw(iid_law(0.7)) : AcceptanceLaw(beta(0.7, spread));
    const PerRequest found = played_requests(law, 5, 400, 20000);
    const PerRequest expected = steps_a_token(0.7, spread, 5, 400);
    // Each request starts a new renewal process, so the mean is accurate to about 1 / output.
    CHECK(found.mean == doctest::Approx(expected.mean).epsilon(0.005));
    CHECK(found.deviation == doctest::Approx(expected.deviation).epsilon(0.04));
  }
}

TEST_CASE("as many requests as are asked for find the difference as often as they should") {
  constexpr double confidence = 0.95;
  constexpr double power = 0.8;
  const PerRequest first = steps_a_token(0.60, 0.1, 5, 200);
  const PerRequest second = steps_a_token(0.65, 0.1, 5, 200);
  const auto requests = static_cast<std::uint32_t>(requests_needed(first, second, confidence, power));
  CHECK(requests > 30);
  CHECK(requests < 400);
  const double bound = t_bound(2 * requests - 2, confidence);
  const auto found = [&](double alpha, double other) {
    const AcceptanceDraws one(beta(alpha, 0.1), test_seed(42));
    const AcceptanceDraws two(beta(other, 0.1), test_seed(43));
    constexpr int benchmarks = 1500;
    int rejected = 0;
    for (std::uint32_t b = 0; b < benchmarks; ++b) {
      double sums[2] = {0, 0};
      double squares[2] = {0, 0};
      for (std::uint32_t i = 0; i < requests; ++i) {
        const double values[2] = {played(one, b * requests + i, 5, 200),
                                  played(two, b * requests + i, 5, 200)};
        for (int side = 0; side < 2; ++side) {
          sums[side] += values[side];
          squares[side] += values[side] * values[side];
        }
      }
      double variance = 0;
      for (int side = 0; side < 2; ++side) {
        const double mean = sums[side] / requests;
        variance += (squares[side] / requests - mean * mean) / (requests - 1);
      }
      rejected += std::abs(sums[0] - sums[1]) / requests > bound * std::sqrt(variance) ? 1 : 0;
    }
    return static_cast<double>(rejected) / benchmarks;
  };
  // The share of 1500 benchmarks has a standard error of 0.01; the tolerance is five of them, and 0.01 for
  // skewness.
  CHECK(std::abs(found(0.60, 0.65) - power) < 0.06);
  CHECK(found(0.60, 0.60) < 0.08);
}

// Numbers are normal, in 40,000 benchmarks each. The stated power must hold to 0.01: five standard errors,
// and the effect of unequal deviations with few requests. Normal quantiles instead of the t-test's would
// promise power 0.8 for differences that 3 to 10 requests find in 0.47 to 0.75 of benchmarks.
TEST_CASE("the power of few requests is what simulated t-tests have") {
  std::mt19937_64 random(54);
  std::normal_distribution<double> normal;
  for (const int requests : {3, 5, 10}) {
    const PerRequest one{1, 0.2};
    const PerRequest other = faster(one, difference_found(one, requests, 0.95, 0.8));
    const double stated = power_of(one, other, requests, 0.95);
    CAPTURE(requests);
    CHECK(stated == doctest::Approx(0.8).epsilon(1e-6));
    const double by_normal = 2.8016 * std::hypot(one.deviation, other.deviation) / std::sqrt(requests);
    int found = 0;
    int found_by_normal = 0;
    constexpr int benchmarks = 40000;
    const double bound = t_bound(2 * requests - 2, 0.95);
    for (int i = 0; i < benchmarks; ++i) {
      double sums[2] = {0, 0};
      double squares[2] = {0, 0};
      for (int j = 0; j < requests; ++j) {
        for (int side = 0; side < 2; ++side) {
          const double value = (side == 0 ? one : other).deviation * normal(random);
          sums[side] += value;
          squares[side] += value * value;
        }
      }
      double variance = 0;
      for (int side = 0; side < 2; ++side)
        variance += (squares[side] - sums[side] * sums[side] / requests) / (requests - 1);
      const double error = bound * std::sqrt(variance / requests);
      const double between = (sums[0] - sums[1]) / requests;
      found += std::abs(between + one.mean - other.mean) > error ? 1 : 0;
      found_by_normal += std::abs(between + by_normal) > error ? 1 : 0;
    }
    CHECK(std::abs(double(found) / benchmarks - stated) < 0.01 + (requests == 3 ? 0.02 : 0.0));
    CHECK(double(found_by_normal) / benchmarks < 0.77);
  }
}

TEST_CASE("numbers of requests and the differences that they find belong together") {
  const PerRequest one{1, 0.4};
  for (const int requests : {5, 50, 176, 20000}) {
    const double found = difference_found(one, requests, 0.95, 0.8);
    CAPTURE(requests);
    CHECK(requests_needed(one, faster(one, found * (1 + 1e-9)), 0.95, 0.8) == requests);
    CHECK(requests_needed(one, faster(one, found * (1 - 1e-9)), 0.95, 0.8) == requests + 1);
  }
  // With two requests per setting the noncentrality is bounded, so no difference reaches this power, however
  // large.
  CHECK(std::isinf(difference_found(one, 2, 0.95, 0.8)));
  // The smallest and the largest numbers that the program accepts.
  CHECK(requests_needed({1, 1e-8}, faster({1, 1e-8}, 100), 0.95, 0.8) == 2);
  CHECK(requests_needed({1, 100}, faster({1, 100}, 1e-8), 0.95, 0.8) > 1e21);
  // Acceptance rates of 0.5 and 0.7 at gamma = 3, for which normal quantiles promised power 0.8 with 5
  // requests.
  const PerRequest half = steps_a_token(0.5, 0.1, 3, 256);
  const PerRequest more = steps_a_token(0.7, 0.1, 3, 256);
  const double needed = requests_needed(half, more, 0.95, 0.8);
  CHECK(needed == 6);
  CHECK(power_of(half, more, needed, 0.95) >= 0.8);
  CHECK(power_of(half, more, needed - 1, 0.95) < 0.8);
}

TEST_CASE("a published gain of 3.6% is not found by 176 requests whose times differ by 40%") {
  const PerRequest measured{1, 0.4};
  CHECK(difference_found(measured, 176, 0.95, 0.8) == doctest::Approx(0.127).epsilon(0.01));
  CHECK(requests_needed(measured, {1 / 1.036, 0.4 / 1.036}, 0.95, 0.8) > 1800);
  CHECK(std::isinf(requests_needed(measured, measured, 0.95, 0.8)));
}

}  // namespace
}  // namespace speclab

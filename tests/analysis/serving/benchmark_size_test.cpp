#include "analysis/serving/benchmark_size.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "tests/bounds.hpp"

namespace speclab {
namespace {

/// Steps a token of one request, played round by round.
double played(const AcceptanceDraws& draws, std::uint32_t request, std::uint32_t gamma,
              std::uint32_t output) {
  RequestAcceptance own = draws.begin(request);
  std::uint32_t out = 1;
  std::uint32_t rounds = 0;
  while (out < output) out += draws.accepted(own, request, rounds++, gamma, 1) + 1;
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

TEST_CASE("the steps a token of requests, and how they differ, are those of played requests") {
  for (const double spread : {0.0, 0.1, 0.2}) {
    CAPTURE(spread);
    const AcceptanceLaw law = spread == 0 ? AcceptanceLaw(iid_law(0.7)) : AcceptanceLaw(beta(0.7, spread));
    const PerRequest found = played_requests(law, 5, 400, 20000);
    const PerRequest expected = steps_a_token(0.7, spread, 5, 400);
    // A renewal process begins anew: the mean is right to 1 / output.
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
      rejected += std::abs(sums[0] - sums[1]) / requests > 1.96 * std::sqrt(variance) ? 1 : 0;
    }
    return static_cast<double>(rejected) / benchmarks;
  };
  // 1500 benchmarks: a standard error of 0.01; seven of them, and 0.03 for Student's t and skewness.
  CHECK(std::abs(found(0.60, 0.65) - power) < 0.1);
  CHECK(found(0.60, 0.60) < 0.1);
}

TEST_CASE("a published gain of 3.6% is not found by 176 requests whose times differ by 40%") {
  const PerRequest measured{1, 0.4};
  CHECK(difference_found(measured, 176, 0.95, 0.8) > 0.1);
  CHECK(requests_needed(measured, {1 / 1.036, 0.4 / 1.036}, 0.95, 0.8) > 1800);
  CHECK(std::isinf(requests_needed(measured, measured, 0.95, 0.8)));
}

}  // namespace
}  // namespace speclab

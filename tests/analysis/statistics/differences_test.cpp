// Tests the comparison of two samples. Null of the simulations: both samples have one law; p < .05 then in a
// share of at most .05 of 2,000 trials, so that .084 is above the bound of 7 sigma. Power: with a difference
// of the size that such samples claim to find with probability .8, the share is .7 to .9.
#include "analysis/statistics/differences.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <vector>

#include "core/random/philox.hpp"
#include "tests/bounds.hpp"

using namespace speclab;

namespace {

/// Accepted and examined tokens of each request, whose rate is uniform on `mean` - .2 to `mean` + .2.
struct Requests {
  std::vector<double> accepted;
  std::vector<double> examined;

  std::uint64_t sum(const std::vector<double>& counts) const {
    double all = 0;
    for (const double one : counts) all += one;
    return static_cast<std::uint64_t>(all);
  }
  IntervalAt by_request() const {
    return [this](double confidence) {
      return bounded_ratio_interval(accepted, examined, {0, 1}, confidence);
    };
  }
  IntervalAt by_token() const {
    return [this](double confidence) { return binomial_interval(sum(accepted), sum(examined), confidence); };
  }
};

Requests drawn(std::uint32_t trial, std::uint32_t side, double mean) {
  constexpr int requests = 30;
  constexpr int rounds = 20;
  constexpr int gamma = 4;
  Philox stream(test_seed(20261128), Site{trial, side, Draw{Use::world, 5}});
  const auto uniform = [&] { return static_cast<double>(stream() >> 11U) * 0x1p-53; };
  Requests sample;
  for (int i = 0; i < requests; ++i) {
    const double rate = mean - 0.2 + 0.4 * uniform();
    double accepted = 0;
    double examined = 0;
    for (int round = 0; round < rounds; ++round) {
      for (int j = 0; j < gamma; ++j) {
        ++examined;
        if (uniform() >= rate) break;
        ++accepted;
      }
    }
    sample.accepted.push_back(accepted);
    sample.examined.push_back(examined);
  }
  return sample;
}

}  // namespace

TEST_CASE("the noncentrality of a power is that of the normal law for many degrees") {
  CHECK(t_test_noncentrality(1e5, 0.95, 0.8) == doctest::Approx(1.959964 + 0.841621).epsilon(1e-4));
  for (const double degrees : {3.0, 20.0, 200.0}) {
    const double found = t_test_noncentrality(degrees, 0.99, 0.9);
    CHECK(t_test_power(found, degrees, 0.99) == doctest::Approx(0.9));
    CHECK(t_test_power(0, degrees, 0.99) == doctest::Approx(0.01));
  }
}

TEST_CASE("the p-value of paired values is that of Student's t-test") {
  const std::vector<double> ones(6, 1);
  const std::vector<double> first{1, 2, 4, 3, 5, 2};
  const std::vector<double> second{2, 2.5, 5.5, 3.2, 5.1, 3};
  double mean = 0;
  double squares = 0;
  for (std::size_t i = 0; i < 6; ++i) mean += (second[i] - first[i]) / 6;
  for (std::size_t i = 0; i < 6; ++i) squares += std::pow(second[i] - first[i] - mean, 2);
  const double t = mean / std::sqrt(squares / 5 / 6);
  const boost::math::students_t_distribution<double> law(5);
  const auto found = judged(
      [&](double confidence) {
        return paired_difference({second, ones}, {first, ones}, confidence);
      },
      0.95, 0.8, 6);
  REQUIRE(found);
  CHECK(found->value.estimate == doctest::Approx(mean));
  CHECK(found->p == doctest::Approx(2 * boost::math::cdf(boost::math::complement(law, t))).epsilon(1e-6));
  CHECK(*found->found > found->value.half_width());
}

TEST_CASE("two shares differ as Newcombe's interval says, and unknown errors stay unknown") {
  // 56 of 70 against 48 of 80, Newcombe 1998, method 10 with Clopper and Pearson's bounds in place of
  // Wilson's.
  const auto share = [](std::uint64_t successes, std::uint64_t trials) {
    return [=](double confidence) { return binomial_interval(successes, trials, confidence); };
  };
  const auto found = judged(independent_difference(share(48, 80), share(56, 70)), 0.95, 0.8, 70);
  const Interval one = *binomial_interval(48, 80, 0.95);
  const Interval other = *binomial_interval(56, 70, 0.95);
  REQUIRE(found);
  CHECK(found->value.estimate == doctest::Approx(0.2));
  CHECK(found->value.low ==
        doctest::Approx(0.2 - std::hypot(other.estimate - other.low, one.high - one.estimate)));
  CHECK(found->value.high ==
        doctest::Approx(0.2 + std::hypot(other.high - other.estimate, one.estimate - one.low)));
  CHECK(found->p < 0.05);
  CHECK(found->p > 0.001);
  const auto unknown =
      judged(independent_difference(share(48, 80), [](double) { return unbounded(0.5); }), 0.95, 0.8, 70);
  REQUIRE(unknown);
  CHECK_FALSE(unknown->value.bounded());
  CHECK_FALSE(unknown->found);
  CHECK_FALSE(judged(independent_difference(share(48, 80), share(0, 0)), 0.95, 0.8, 70));
}

TEST_CASE("requests of one law seldom differ, and differ as often as claimed if they should") {
  constexpr std::uint32_t trials = 2000;
  constexpr double mean = 0.7;
  int alarms = 0;
  int alarms_by_token = 0;
  double claimed = 0;
  const auto excludes_0 = [](const IntervalAt& difference) {
    const Interval found = *difference(0.95);
    return found.low > 0 || found.high < 0;
  };
  for (std::uint32_t trial = 0; trial < trials; ++trial) {
    const Requests first = drawn(trial, 0, mean);
    const Requests second = drawn(trial, 1, mean);
    alarms += excludes_0(independent_difference(first.by_request(), second.by_request())) ? 1 : 0;
    alarms_by_token += excludes_0(independent_difference(first.by_token(), second.by_token())) ? 1 : 0;
    if (trial < 100) {
      const auto found =
          judged(independent_difference(first.by_request(), second.by_request()), 0.95, 0.8, 30);
      claimed += *found->found / 100;
      CHECK((found->p < 0.05) == (found->value.low > 0 || found->value.high < 0));
    }
  }
  CHECK(alarms <= 0.084 * trials);
  CHECK(alarms >= 0.01 * trials);
  // The planted fault takes every examined token as independent, although requests differ.
  CHECK(alarms_by_token > 0.12 * trials);
  int hits = 0;
  for (std::uint32_t trial = 0; trial < trials; ++trial) {
    hits += excludes_0(independent_difference(drawn(trial, 2, mean).by_request(),
                                              drawn(trial, 3, mean + claimed).by_request()))
                ? 1
                : 0;
  }
  CAPTURE(claimed);
  CHECK(hits >= 0.7 * trials);
  CHECK(hits <= 0.9 * trials);
}

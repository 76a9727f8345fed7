#include "analysis/statistics/intervals.hpp"

#include <doctest/doctest.h>

#include <boost/math/distributions/binomial.hpp>
#include <boost/random/normal_distribution.hpp>
#include <cmath>
#include <optional>
#include <vector>

#include "core/random/philox.hpp"
#include "tests/bounds.hpp"

using namespace speclab;

namespace {

Philox noise(std::uint32_t trial) { return Philox(test_seed(20230202), Site{trial, 0, Draw{Use::world, 0}}); }

std::optional<Interval> mean_interval(const std::vector<double>& values, double confidence) {
  return ratio_interval(values, std::vector<double>(values.size(), 1.0), confidence);
}

void check_count(int successes, int trials, double probability) {
  CAPTURE(successes);
  CHECK(count_agrees(successes, trials, probability));
}

}  // namespace

TEST_CASE("t interval by hand: 1, 2, 3 at 95 % is 2 +- 4.302653 / sqrt(3)") {
  const Interval found = mean_interval({1, 2, 3}, 0.95).value();
  CHECK(found.estimate == doctest::Approx(2));
  CHECK(found.half_width() == doctest::Approx(4.302652729911275 / std::sqrt(3.0)));
  CHECK(found.low == doctest::Approx(2 - found.half_width()));
}

TEST_CASE("degenerate cases are defined") {
  CHECK_FALSE(mean_interval({}, 0.95).has_value());
  const Interval lonely = mean_interval({4}, 0.95).value();
  CHECK(lonely.estimate == 4);
  CHECK(std::isinf(lonely.half_width()));
  const double zeros[] = {0, 0};
  CHECK_FALSE(ratio_interval(zeros, zeros, 0.95).has_value());
  CHECK(mean_interval({5, 5, 5}, 0.999).value().half_width() == 0);
  CHECK_FALSE(binomial_interval(0, 0, 0.95).has_value());
}

TEST_CASE("the mean's interval covers at its confidence, for normal batches") {
  constexpr int repeats = 4000;
  int covered = 0;
  boost::random::normal_distribution<double> normal(3, 2);
  for (int i = 0; i < repeats; ++i) {
    Philox stream = noise(static_cast<std::uint32_t>(i));
    std::vector<double> values(8);
    for (double& value : values) value = normal(stream);
    const Interval found = mean_interval(values, 0.9).value();
    covered += found.low <= 3 && 3 <= found.high ? 1 : 0;
  }
  check_count(covered, repeats, 0.9);
}

TEST_CASE("the ratio's interval covers at its confidence, for accepted over examined") {
  // Batches have 20 rounds with alpha = 0.6 and gamma = 3: accepted over examined estimates alpha.
  constexpr int repeats = 3000;
  constexpr double alpha = 0.6;
  int covered = 0;
  for (int i = 0; i < repeats; ++i) {
    Philox stream = noise(static_cast<std::uint32_t>(i));
    std::vector<double> accepted(40);
    std::vector<double> examined(40);
    for (std::size_t batch = 0; batch < accepted.size(); ++batch) {
      for (int round = 0; round < 20; ++round) {
        for (int k = 0; k < 3; ++k) {
          ++examined[batch];
          if (!(open_unit(stream()) < alpha)) break;
          ++accepted[batch];
        }
      }
    }
    const Interval found = ratio_interval(accepted, examined, 0.9).value();
    covered += found.low <= alpha && alpha <= found.high ? 1 : 0;
  }
  check_count(covered, repeats, 0.9);
}

TEST_CASE("bounds of a ratio stay where it can be, and hold the estimate") {
  const std::vector<double> ones(4, 1.0);
  const std::vector<double> nearly{1, 0.99, 0.98, 0.7};
  CHECK(mean_interval(nearly, 0.95)->high > 1);
  const Interval cut = bounded_ratio_interval(nearly, ones, {0, 1}, 0.95).value();
  CHECK(cut.high == 1);
  CHECK(cut.low == mean_interval(nearly, 0.95)->low);
}

TEST_CASE(
    "batches that are mostly alike: with equal denominators the mean's bounds, else those of their sums") {
  const std::vector<double> accepted{2, 2, 2, 2, 2, 1};
  const std::vector<double> equal(6, 2.0);
  const Interval mean = bounded_mean_interval({{1.0, 5}, {0.5, 1}}, {0, 1}, 0.95);
  const Interval same = bounded_ratio_interval(accepted, equal, {0, 1}, 0.95).value();
  CHECK(same.low == doctest::Approx(mean.low));
  CHECK(same.high == doctest::Approx(mean.high));
  // The result must be the same by way of the sums, if the largest denominator is hardly different.
  const Interval sums =
      bounded_ratio_interval(accepted, equal, {0, 1}, 0.95, LargestDenominators{2 + 1e-9, 2}).value();
  CHECK(sums.low == doctest::Approx(mean.low).epsilon(1e-6));
  CHECK(sums.high == doctest::Approx(mean.high).epsilon(1e-6));
  // Batches that were not seen weigh more if their denominators may be larger.
  const Interval larger =
      bounded_ratio_interval(accepted, equal, {0, 1}, 0.95, LargestDenominators{8, 2}).value();
  CHECK(larger.low < same.low - 0.05);
  CHECK(larger.high == doctest::Approx(same.high));
}

TEST_CASE("Clopper-Pearson never covers less than promised: exact sums over every count") {
  for (const int trials : {1, 7, 40}) {
    for (int step = 0; step <= 50; ++step) {
      const double probability = step / 50.0;
      const boost::math::binomial_distribution<double> distribution(trials, probability);
      double coverage = 0;
      for (int k = 0; k <= trials; ++k) {
        const Interval found =
            binomial_interval(static_cast<std::uint64_t>(k), static_cast<std::uint64_t>(trials), 0.95)
                .value();
        if (found.low <= probability && probability <= found.high)
          coverage += boost::math::pdf(distribution, k);
      }
      CAPTURE(trials);
      CAPTURE(probability);
      CHECK(coverage >= 0.95);
    }
  }
}

TEST_CASE("Clopper-Pearson ends and large counts") {
  const Interval none = binomial_interval(0, 10, 0.95).value();
  CHECK(none.low == 0);
  CHECK(none.high == doctest::Approx(1 - std::pow(0.025, 0.1)));
  const Interval all = binomial_interval(10, 10, 0.95).value();
  CHECK(all.high == 1);
  CHECK(all.low == doctest::Approx(std::pow(0.025, 0.1)));
  const Interval large = binomial_interval(600'000'000, 1'000'000'000, 0.95).value();
  CHECK(large.half_width() == doctest::Approx(1.959964 * std::sqrt(0.24e-9)).epsilon(1e-4));
}

TEST_CASE("Sidak: the family holds together") {
  CHECK(family_confidence(0.95, 1) == doctest::Approx(0.95));
  CHECK(std::pow(family_confidence(0.95, 12), 12) == doctest::Approx(0.95));
}

TEST_CASE("difference of paired ratios: the plain difference of means, and what pairing is worth") {
  // With denominators of 1 it is the paired t interval: the differences are 1, 2, 3.
  const std::vector<double> ones(3, 1.0);
  const std::vector<double> first{3, 5, 7};
  const std::vector<double> second{2, 3, 4};
  const auto found = paired_difference({first, ones}, {second, ones}, 0.95);
  const auto wanted = mean_interval({1, 2, 3}, 0.95);
  REQUIRE(found.has_value());
  CHECK(found->estimate == doctest::Approx(2));
  CHECK(found->low == doctest::Approx(wanted->low));
  CHECK(found->high == doctest::Approx(wanted->high));
  // If a run is compared with itself, or most batches of two runs are equal, the others remain unknown.
  const std::vector<double> below{1, 2, 1.5};
  const auto same = paired_difference({first, below}, {first, below}, 0.95);
  CHECK(same->estimate == 0);
  CHECK_FALSE(same->bounded());
  const auto mostly = paired_difference({{{3, 5, 7, 9}}, std::vector<double>(4, 2.0)},
                                        {{{3, 5, 7, 8}}, std::vector<double>(4, 2.0)}, 0.95);
  CHECK_FALSE(mostly->bounded());
  const std::vector<double> nothing(3, 0.0);
  CHECK(!paired_difference({first, nothing}, {second, ones}, 0.95).has_value());
}

TEST_CASE("difference of paired ratios: covers the truth as often as it says, where noise is shared") {
  // Ratios 2 and 1.5 of sums whose batches share most of their noise. 2,000 intervals of 95%: 7 sigma.
  int covered = 0;
  constexpr int repeats = 2000;
  for (std::uint32_t repeat = 0; repeat < repeats; ++repeat) {
    std::vector<double> above_a;
    std::vector<double> above_b;
    std::vector<double> below_a;
    std::vector<double> below_b;
    for (std::uint32_t batch = 0; batch < 30; ++batch) {
      Philox stream(test_seed(31), Site{repeat, batch, Draw{Use::world, 3}});
      const double shared = open_unit(stream()) + open_unit(stream()) - 1;
      const double time_a = 10 + open_unit(stream());
      const double time_b = 12 + open_unit(stream());
      below_a.push_back(time_a);
      below_b.push_back(time_b);
      above_a.push_back(2 * time_a + shared + 0.1 * (open_unit(stream()) - 0.5));
      above_b.push_back(1.5 * time_b + shared + 0.1 * (open_unit(stream()) - 0.5));
    }
    const auto found = paired_difference({above_a, below_a}, {above_b, below_b}, 0.95);
    if (found->low <= 0.5 && 0.5 <= found->high) ++covered;
  }
  CHECK(count_agrees(covered, repeats, 0.95));
}

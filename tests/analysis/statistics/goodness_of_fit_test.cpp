#include "analysis/statistics/goodness_of_fit.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/random/random_source.hpp"
#include "tests/bounds.hpp"

using namespace speclab;

namespace {

using Counts = std::vector<std::uint64_t>;

Counts sample(const std::vector<double>& distribution, int samples, std::uint32_t trial) {
  Philox stream(test_seed(1922), Site{trial, 0, Draw{Use::world, 0}});
  Counts counts(distribution.size());
  for (int i = 0; i < samples; ++i) {
    const Token id = inverse_cdf(Row{distribution.data(), static_cast<std::int32_t>(distribution.size())},
                                 open_unit(stream()));
    ++counts[static_cast<std::size_t>(id)];
  }
  return counts;
}

void check_count(int successes, int trials, double probability) {
  CAPTURE(successes);
  CAPTURE(probability);
  CHECK(count_agrees(successes, trials, probability));
}

const std::vector<double> skewed{0.3, 0.25, 0.2, 0.15, 0.1};

}  // namespace

TEST_CASE("Pearson and G by hand") {
  const Counts counts{30, 70};
  const FitTest found = fit_test(counts, std::vector<double>{0.5, 0.5});
  CHECK(found.pearson == doctest::Approx(16));
  CHECK(found.g == doctest::Approx(2 * (30 * std::log(0.6) + 70 * std::log(1.4))));
  CHECK(found.degrees == 1);
  CHECK(found.pearson_p == doctest::Approx(std::erfc(std::sqrt(8.0))));
  CHECK(found.samples == 100);
  // Probabilities need not be normalised.
  CHECK(fit_test(counts, std::vector<double>{7, 7}).pearson == doctest::Approx(16));
}

TEST_CASE("two samples by hand: the 2 x 2 table's n (ad - bc)^2 / (row and column totals)") {
  const FitTest found = two_sample_test(Counts{20, 30}, Counts{60, 40});
  CHECK(found.pearson ==
        doctest::Approx(150.0 * (20 * 40 - 30 * 60) * (20 * 40 - 30 * 60) / (50.0 * 100 * 80 * 70)));
  CHECK(found.degrees == 1);
  CHECK(found.samples == 150);
  CHECK(two_sample_test(Counts{20, 30}, Counts{0, 0}).pearson_p == 1);
}

TEST_CASE(
    "p-values of true samples are uniform: 1,500 tests at four levels, one- and two-sample, both "
    "statistics") {
  // Null: multinomial samples from the distribution tested. 16 comparisons at seven sigma.
  constexpr int repeats = 1500;
  constexpr double levels[] = {0.05, 0.25, 0.5, 0.9};
  int below[4][4] = {};
  for (int i = 0; i < repeats; ++i) {
    const Counts first = sample(skewed, 1000, static_cast<std::uint32_t>(2 * i));
    const Counts second = sample(skewed, 1000, static_cast<std::uint32_t>(2 * i + 1));
    const FitTest one = fit_test(first, skewed);
    const FitTest two = two_sample_test(first, second);
    const double values[] = {one.pearson_p, one.g_p, two.pearson_p, two.g_p};
    for (int kind = 0; kind < 4; ++kind) {
      for (int level = 0; level < 4; ++level) below[kind][level] += values[kind] <= levels[level] ? 1 : 0;
    }
  }
  for (const auto& kind : below) {
    for (int level = 0; level < 4; ++level) check_count(kind[level], repeats, levels[level]);
  }
}

TEST_CASE("a planted fault is rejected") {
  const std::vector<double> faulty{0.35, 0.25, 0.2, 0.15, 0.05};
  // w = sqrt(0.05^2/0.3 + 0.05^2/0.1) = 0.183: at 1e-9, 5,000 samples detect it with this power.
  const double effect = std::sqrt(0.0025 / 0.3 + 0.0025 / 0.1);
  REQUIRE(power_of(effect, 4, 5000, 1e-9) > 0.999999);
  const Counts counts = sample(faulty, 5000, 0);
  CHECK(fit_test(counts, skewed).pearson_p < 1e-9);
  CHECK(fit_test(counts, skewed).g_p < 1e-9);
  CHECK(two_sample_test(counts, sample(skewed, 20000, 1)).pearson_p < 1e-9);
}

TEST_CASE("pooling gathers the small cells, is filled by the next smallest, and forgets order") {
  const std::vector<double> distribution{0.5, 0.01, 0.3, 0.02, 0.17};
  const Counts counts{52, 0, 28, 3, 17};
  const FitTest found = fit_test(counts, distribution);
  // Expectations 50, 1, 30, 2, 17: the pool {1, 2} expects 3 < 5, so 17 joins it.
  CHECK(found.cells == 3);
  CHECK(found.degrees == 2);
  CHECK(found.pooled_cells == 3);
  CHECK(found.pearson == doctest::Approx(4.0 / 50 + 4.0 / 30));
  const FitTest other = fit_test(Counts{3, 17, 52, 28, 0}, std::vector<double>{0.02, 0.17, 0.5, 0.3, 0.01});
  CHECK(other.pearson == doctest::Approx(found.pearson));
  CHECK(other.g == doctest::Approx(found.g));
  CHECK(fit_test(counts, distribution, 0).cells == 5);
  CHECK(fit_test(counts, distribution, minimum_expectation_for_power).cells == 3);
}

TEST_CASE("when everything is pooled nothing can be rejected") {
  const FitTest found = fit_test(Counts{2, 0, 0}, std::vector<double>{0.4, 0.3, 0.3});
  CHECK(found.cells == 1);
  CHECK(found.degrees == 0);
  CHECK(found.pearson_p == 1);
  CHECK(found.g_p == 1);
  CHECK(fit_test(Counts{0, 0}, std::vector<double>{0.5, 0.5}).pearson_p == 1);
}

TEST_CASE("an impossible outcome settles the matter, even once") {
  const FitTest found = fit_test(Counts{500, 499, 1}, std::vector<double>{0.5, 0.5, 0});
  CHECK(found.impossible == 1);
  CHECK(found.pearson_p == 0);
  CHECK(found.g_p == 0);
  const FitTest fine = fit_test(Counts{500, 500, 0}, std::vector<double>{0.5, 0.5, 0});
  CHECK(fine.cells == 2);
  CHECK(fine.pearson_p == doctest::Approx(1));
}

TEST_CASE("power: the formula agrees with simulation, and its inverse with itself") {
  constexpr int samples = 1500;
  constexpr int repeats = 1500;
  const std::vector<double> distribution(4, 0.25);
  const double effect = detectable_effect(3, samples, 0.01, 0.8);
  CHECK(power_of(effect, 3, samples, 0.01) == doctest::Approx(0.8));
  CHECK(power_of(0, 3, samples, 0.01) == doctest::Approx(0.01));
  CHECK(power_of(1e6, 3, 1'000'000'000, 1e-9) == 1);
  // Moving effect / 4 both ways in each half gives w = effect, and TV = effect / 2: the bound is attained.
  const double shift = effect / 4;
  const std::vector<double> moved{0.25 + shift, 0.25 - shift, 0.25 + shift, 0.25 - shift};
  CHECK(detectable_total_variation(3, samples, 0.01, 0.8) == doctest::Approx(2 * shift));
  int rejected = 0;
  for (int i = 0; i < repeats; ++i) {
    const FitTest found = fit_test(sample(moved, samples, static_cast<std::uint32_t>(i)), distribution);
    rejected += found.pearson_p <= 0.01 ? 1 : 0;
  }
  check_count(rejected, repeats, 0.8);
}

TEST_CASE("the effect w is never below twice the total variation") {
  Philox stream(5, Site{0, 0, Draw{Use::world, 0}});
  for (int i = 0; i < 200; ++i) {
    double null[6];
    double other[6];
    double null_total = 0;
    double other_total = 0;
    for (int k = 0; k < 6; ++k) {
      null_total += null[k] = open_unit(stream());
      other_total += other[k] = open_unit(stream());
    }
    double square = 0;
    double distance = 0;
    for (int k = 0; k < 6; ++k) {
      const double difference = other[k] / other_total - null[k] / null_total;
      square += difference * difference / (null[k] / null_total);
      distance += std::abs(difference) / 2;
    }
    CHECK(std::sqrt(square) >= 2 * distance * (1 - 1e-12));
  }
}

TEST_CASE("planned samples: the fewest that have the power, and the inverse of the detectable effect") {
  for (const int degrees : {1, 10, 700}) {
    for (const double level : {0.05, 1e-6}) {
      for (const double power : {0.5, 0.99}) {
        for (const double effect : {0.02, 0.3}) {
          CAPTURE(degrees);
          CAPTURE(level);
          CAPTURE(effect);
          const std::uint64_t samples = planned_samples(effect, degrees, level, power);
          CHECK(power_of(effect, degrees, samples, level) >= power - 1e-9);
          CHECK(power_of(effect, degrees, samples - 1, level) < power);
          CHECK(detectable_effect(degrees, samples, level, power) == doctest::Approx(effect).epsilon(0.02));
        }
      }
    }
  }
  // Cohen 1988, table 7.4: w = .3, one degree, level .05, power .8 needs 87 (his tables round down).
  CHECK(std::abs(static_cast<int>(planned_samples(0.3, 1, 0.05, 0.8)) - 87) <= 1);
  CHECK(planned_samples(1e-12, 1, 0.05, 0.8) == 1'000'000'000'000'000'000U);
}

TEST_CASE("tests add up: statistics, degrees and p-value of the sum") {
  const FitTest a = fit_test(Counts{30, 70}, std::vector<double>{0.5, 0.5});
  const FitTest b = fit_test(Counts{20, 30, 50}, std::vector<double>{0.3, 0.3, 0.4});
  const FitTest sum = sum_of_tests(std::vector<FitTest>{a, b});
  CHECK(sum.pearson == doctest::Approx(a.pearson + b.pearson));
  CHECK(sum.degrees == 3);
  CHECK(sum.samples == 200);
  // P(chi-squared with 3 degrees >= x) = erfc(sqrt(x/2)) + sqrt(2 x / pi) exp(-x / 2).
  const double x = sum.pearson;
  CHECK(sum.pearson_p ==
        doctest::Approx(std::erfc(std::sqrt(x / 2)) + std::sqrt(2 * x / std::acos(-1.0)) * std::exp(-x / 2)));
  CHECK(sum_of_tests({}).pearson_p == 1);
  const FitTest impossible = fit_test(Counts{9, 1}, std::vector<double>{1, 0});
  CHECK(sum_of_tests(std::vector<FitTest>{a, impossible}).pearson_p == 0);
}

TEST_CASE("a planned test knows its effect, its cells and its power") {
  const std::vector<double> faulty{0.35, 0.25, 0.2, 0.15, 0.05};
  const PlannedTest plan = planned_fit_test(skewed, faulty, 1000);
  CHECK(plan.effect == doctest::Approx(std::sqrt(0.0025 / 0.3 + 0.0025 / 0.1)));
  CHECK(plan.degrees == 4);
  CHECK(planned_power(plan, 0.05) == doctest::Approx(power_of(plan.effect, 4, 1000, 0.05)));
  // With 40 samples the cells of .15 and .1 expect less than 8, and are pooled.
  CHECK(planned_fit_test(skewed, faulty, 40, 8).degrees == 3);
  CHECK(planned_fit_test(skewed, skewed, 1000).effect == 0);
  // One of two samples: for small differences w^2 is half as large.
  const PlannedTest two = planned_two_sample_test(skewed, faulty, 1000);
  CHECK(two.effect == doctest::Approx(std::sqrt(0.0025 / 0.65 + 0.0025 / 0.15)));
  // An impossible outcome of probability .01 settles it in 1 - .99^n.
  const PlannedTest impossible =
      planned_fit_test(std::vector<double>{0.5, 0.5, 0}, std::vector<double>{0.495, 0.495, 0.01}, 200);
  CHECK(impossible.impossible == doctest::Approx(0.01));
  CHECK(planned_power(impossible, 1e-9) == doctest::Approx(1 - std::pow(0.99, 200)).epsilon(1e-6));
  CHECK(planned_power(planned_fit_test(skewed, faulty, 2), 0.05) == 0);
}

TEST_CASE("planned power agrees with simulation, one- and two-sample") {
  // Null: rejections are Binomial(repeats, planned power). Seven sigma (.13), and .03 because the noncentral
  // distribution is a limit for small effects. Power: the plan for half the effect is rejected.
  constexpr int repeats = 1000;
  const std::vector<double> moved{0.33, 0.25, 0.2, 0.15, 0.07};
  const auto plausible = [](int rejected, double predicted) {
    return std::abs(rejected / double{repeats} - predicted) <=
           bound_in_sigmas * std::sqrt(predicted * (1 - predicted) / repeats) + 0.03;
  };
  int one = 0;
  int two = 0;
  for (std::uint32_t i = 0; i < repeats; ++i) {
    const Counts first = sample(moved, 600, 2 * i);
    one += fit_test(first, skewed).pearson_p <= 0.05 ? 1 : 0;
    two += two_sample_test(first, sample(skewed, 600, 2 * i + 1)).pearson_p <= 0.05 ? 1 : 0;
  }
  const PlannedTest plan = planned_fit_test(skewed, moved, 600);
  CHECK(plausible(one, planned_power(plan, 0.05)));
  CHECK(plausible(two, planned_power(planned_two_sample_test(skewed, moved, 600), 0.05)));
  CHECK_FALSE(plausible(one, power_of(plan.effect / 2, plan.degrees, 600, 0.05)));
  CHECK_FALSE(plausible(one, planned_power(planned_two_sample_test(skewed, moved, 600), 0.05)));
}

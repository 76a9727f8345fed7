#include "analysis/statistics/fit_power.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <boost/math/distributions/binomial.hpp>
#include <boost/math/distributions/hypergeometric.hpp>
#include <cmath>
#include <vector>

#include "core/random/random_source.hpp"
#include "tests/bounds.hpp"
#include "tests/planned_power.hpp"

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
  // Null: multinomial samples from the tested distribution. 16 comparisons at seven sigma.
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

TEST_CASE("two classes: the cells' p-value keeps every level; either statistic alone does not") {
  // Null: a binomial count. The false-alarm rates are exact, sums over all counts.
  for (const double level : {1e-2, 1e-4, 1e-6, 1e-9}) {
    CAPTURE(level);
    double both = 0;
    double pearson = 0;
    double g = 0;
    for (const std::uint64_t samples : {200U, 1000U, 5000U}) {
      for (const double expected : {10.0, 11.5, 12.0, 13.0, 18.0, 30.0, 100.0}) {
        const double p = expected / static_cast<double>(samples);
        const boost::math::binomial_distribution<double> count(static_cast<double>(samples), p);
        double rates[3] = {0, 0, 0};
        for (std::uint64_t n = 0; n <= samples; ++n) {
          const FitTest test = fit_test(Counts{n, samples - n}, std::vector<double>{p, 1 - p}, 10);
          const double mass = boost::math::pdf(count, static_cast<double>(n));
          if (test.cells_p() <= level) rates[0] += mass;
          if (test.pearson_p <= level) rates[1] += mass;
          if (test.g_p <= level) rates[2] += mass;
        }
        both = std::max(both, rates[0]);
        pearson = std::max(pearson, rates[1]);
        g = std::max(g, rates[2]);
      }
    }
    CHECK(both <= (level >= 1e-2 ? 1.05 : 1) * level);
    if (level == 1e-6) {
      CHECK(pearson > 20 * level);
      CHECK(g > 3 * level);
    }
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

TEST_CASE("a class that expects enough has its own cell, and rare classes form groups beside it") {
  const std::vector<double> distribution{0.5, 0.03, 0.3, 0.04, 0.13};
  const Counts counts{52, 1, 28, 6, 13};
  const FitTest found = fit_test(counts, distribution);
  // The expectations are 50, 3, 30, 4, 13: the two rare classes expect 7 together.
  CHECK(found.cells == 4);
  CHECK(found.degrees == 3);
  CHECK(found.rare_classes == 2);
  CHECK(found.tails == 2);
  CHECK(found.pearson == doctest::Approx(4.0 / 50 + 4.0 / 30 + 0.0 / 7 + 0.0 / 13));
  // Together they expect less than ten: the cells are tested given the number of samples in them.
  const FitTest few = fit_test(counts, distribution, minimum_expectation_for_power);
  CHECK(few.cells == 3);
  CHECK(few.tails == 3);
  CHECK(few.pearson == doctest::Approx(4.0 / 50 + 4.0 / 30));
  CHECK(fit_test(counts, distribution, 0).cells == 5);
}

TEST_CASE("where every class is rare, the statistic cannot reject and the tails can") {
  const FitTest found = fit_test(Counts{2, 0, 0}, std::vector<double>{0.4, 0.3, 0.3});
  CHECK(found.cells == 0);
  CHECK(found.degrees == 0);
  CHECK(found.pearson_p == 1);
  CHECK(found.g_p == 1);
  CHECK(fit_test(Counts{0, 0}, std::vector<double>{0.5, 0.5}).p() == 1);
  CHECK(fit_test(Counts{0, 0, 4}, std::vector<double>{0.5, 0.4999, 0.0001}).p() < 1e-14);
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
  // With 40 samples the classes of .15 and .1 expect less than 8, and form a group.
  CHECK(planned_fit_test(skewed, faulty, 40, 8).degrees == 3);
  CHECK(planned_fit_test(skewed, skewed, 1000).effect == 0);
  // With two samples w^2 is half as large for small differences.
  const PlannedTest two = planned_two_sample_test(skewed, faulty, 1000);
  CHECK(two.effect == doctest::Approx(std::sqrt(0.0025 / 0.65 + 0.0025 / 0.15)));
  // An impossible outcome of probability .01 is found with probability 1 - .99^n.
  const PlannedTest impossible =
      planned_fit_test(std::vector<double>{0.5, 0.5, 0}, std::vector<double>{0.495, 0.495, 0.01}, 200);
  CHECK(impossible.impossible == doctest::Approx(0.01));
  CHECK(planned_power(impossible, 1e-9) == doctest::Approx(1 - std::pow(0.99, 200)).epsilon(1e-6));
  CHECK(planned_power(planned_fit_test(skewed, faulty, 2), 1e-9) < 1e-9);
}

TEST_CASE("planned power agrees with simulation, one- and two-sample") {
  // Null: rejections are Binomial(repeats, planned power). The margin is seven sigma (.13), and .03 because
  // the noncentral distribution is a limit for small effects. Power: the plan for half the effect is
  // rejected.
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

namespace {

/// A null with some kind of rare classes, and the number of samples drawn from it.
struct Shape {
  const char* name;
  std::vector<double> null;
  int samples;
};

std::vector<double> with_rare(std::vector<double> first, int rare, double each) {
  first.insert(first.end(), static_cast<std::size_t>(rare), each);
  return first;
}

std::vector<double> zipf(int classes) {
  std::vector<double> weights;
  double total = 0;
  for (int i = 1; i <= classes; ++i) total += weights.emplace_back(1.0 / i);
  for (double& weight : weights) weight /= total;
  return weights;
}

std::vector<Shape> ten_shapes() {
  return {{"one rare class beside two halves", {0.5, 0.4999, 0.0001}, 20000},
          {"one class and a rare one", {1 - 1e-6, 1e-6}, 10000},
          {"three orders of magnitude", {0.9, 0.0995, 0.0005}, 4000},
          {"five rare classes", with_rare({0.5, 0.4999}, 5, 2e-5), 5000},
          {"rare classes that expect one sample", with_rare({0.7, 0.2}, 100, 0.001), 1000},
          {"Zipf", zipf(50), 1000},
          {"nothing but rare classes", std::vector<double>(200, 0.005), 1000},
          {"rare classes that just fill a cell", with_rare({0.9895}, 10, 0.00105), 10000},
          {"a thousand rare classes", with_rare({0.6}, 1000, 0.0004), 2000},
          {"two rare classes that fill a cell", {0.97, 0.02, 0.01}, 450}};
}

/// Moves probability `distance` from the first classes to class `to`.
std::vector<double> moved_to(std::vector<double> law, std::size_t to, double distance) {
  law[to] += distance;
  for (std::size_t i = 0; i < law.size() && distance > 0; ++i) {
    if (i == to) continue;
    const double part = std::min(distance, law[i]);
    law[i] -= part;
    distance -= part;
  }
  return law;
}

/// Returns the share of `repeats` tests that reject, with Pearson's statistic and the tails each tested at
/// `level`.
double rejected_share(const Shape& shape, const std::vector<double>& law, double level, int repeats,
                      std::uint32_t first_trial) {
  int rejected = 0;
  for (int i = 0; i < repeats; ++i) {
    const FitTest found = fit_test(sample(law, shape.samples, first_trial + static_cast<std::uint32_t>(i)),
                                   shape.null, minimum_expectation_for_power);
    rejected += found.pearson_p <= level || found.tail_p <= level ? 1 : 0;
  }
  return rejected / static_cast<double>(repeats);
}

double total_variation_of(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += std::abs(a[i] - b[i]) / 2;
  return sum;
}

}  // namespace

TEST_CASE(
    "ten shapes with rare classes: false alarms, and the power that is stated is what simulation finds") {
  // Null: samples of the shape. Pearson and tails at .02 each reject at most .04 of 300 samples; 7 sigma are
  // .08. Power: `detectable_difference` states .9 at 1e-4; differences of that total variation are planted in
  // the likeliest class, in each of the last two and between halves, and 300 samples of each are tested, at 7
  // sigma (.12). planned_power is compared with the same samples (with .03 more, since it is a limit for many
  // samples).
  constexpr int repeats = 300;
  constexpr double level = 1e-4;
  constexpr double power = 0.9;
  const auto sigmas = [](double p) { return bound_in_sigmas * std::sqrt(p * (1 - p) / repeats); };
  std::uint32_t trial = 100000;
  for (const Shape& shape : ten_shapes()) {
    CAPTURE(shape.name);
    CHECK(rejected_share(shape, shape.null, 0.02, repeats, trial += repeats) <= 0.04 + sigmas(0.04));
    const DetectableDifference stated = detectable_difference(
        shape.null, static_cast<std::uint64_t>(shape.samples), level, power, minimum_expectation_for_power);
    CHECK(stated.between_cells <= stated.total_variation);
    std::vector<std::vector<double>> planted;
    const double distance = stated.total_variation;
    for (const std::size_t to : {std::size_t{0}, shape.null.size() - 2, shape.null.size() - 1}) {
      planted.push_back(moved_to(shape.null, to, std::min(distance, 1 - shape.null[to])));
    }
    for (const std::vector<double>& law : planted) {
      if (total_variation_of(law, shape.null) < distance * (1 - 1e-9))
        continue;  // no distribution is that far away
      const double found = rejected_share(shape, law, level, repeats, trial += repeats);
      CHECK(found >= power - sigmas(power));
      const PlannedTest plan = planned_fit_test(shape.null, law, static_cast<std::uint64_t>(shape.samples),
                                                minimum_expectation_for_power);
      const double planned = planned_power(plan, level);
      CHECK(std::abs(found - planned) <= sigmas(planned) + 0.03);
    }
    // A quarter of the distance is moved to the rarest class: the plan predicts how often it is found, rarely
    // or often.
    const auto small = moved_to(shape.null, shape.null.size() - 1, std::min(distance, 0.1) / 4);
    const double planned =
        planned_power(planned_fit_test(shape.null, small, static_cast<std::uint64_t>(shape.samples),
                                       minimum_expectation_for_power),
                      level);
    CHECK(std::abs(rejected_share(shape, small, level, repeats, trial += repeats) - planned) <=
          sigmas(planned) + 0.05);
  }
}

TEST_CASE("a difference that lies in the rare classes alone is found, one- and two-sample") {
  // Classes 2 to 101 each expect one of 10,000 samples; the last two get all samples of the hundred. Their
  // sum is as expected, so that a pool of them detects nothing. At p_value_bound; 48 samples where .9999 are
  // expected have P < 1e-60.
  const std::vector<double> null = with_rare({0.5, 0.49}, 100, 1e-4);
  std::vector<double> fault = null;
  std::fill(fault.begin() + 2, fault.end(), 0);
  fault[100] = fault[101] = 5e-3;
  const Counts wrong = sample(fault, 10000, 1);
  const Counts right = sample(null, 10000, 2);
  CHECK(fit_test(wrong, null).p() < p_value_bound);
  CHECK(fit_test(right, null).p() > p_value_bound);
  const FitTest single = fit_test(wrong, null, 1000);  // too few for a group: only the tails
  CHECK(single.cells == 2);
  CHECK(single.tail_p < p_value_bound);
  CHECK(single.pearson_p > p_value_bound);
  CHECK(two_sample_test(wrong, right, 1000).tail_p < p_value_bound);
  CHECK(two_sample_test(right, sample(null, 10000, 3), 1000).p() > p_value_bound);
}

TEST_CASE("tails of rare classes by hand") {
  // Ten samples, classes of .9 and .1: the second expects one. Three or more have probability 1 - .9^10 - 10
  // .1 .9^9 - 45 .01 .9^8; both tails, one class.
  const FitTest one = fit_test(Counts{7, 3}, std::vector<double>{0.9, 0.1});
  const double above = 1 - std::pow(0.9, 10) - std::pow(0.9, 9) - 0.45 * std::pow(0.9, 8);
  CHECK(one.tails == 1);
  CHECK(one.rare_classes == 1);
  CHECK(one.rare_samples == 3);
  CHECK(one.tail_p == doctest::Approx(2 * above));
  CHECK(one.p() == one.tail_p);
  CHECK(one.degrees == 0);
  // Two samples of ten, four of a class in the first and none in the second, have probability C(10, 4) /
  // C(20, 4).
  const FitTest two = two_sample_test(Counts{6, 4}, Counts{10, 0});
  CHECK(two.tail_p == doctest::Approx(2 * 210.0 / 4845));
  // There are two rare classes: each is tested separately by Bonferroni, and both as one, which takes half of
  // the level.
  const FitTest three = fit_test(Counts{10, 3, 0}, std::vector<double>{0.9, 0.05, 0.05}, 2);
  CHECK(three.tails == 3);
  const auto at_least_3 = [](double p) {
    return 1 - std::pow(1 - p, 13) - 13 * p * std::pow(1 - p, 12) - 78 * p * p * std::pow(1 - p, 11);
  };
  CHECK(three.tail_p == doctest::Approx(std::min(2 * 2 * 2 * at_least_3(0.05), 2 * 2 * at_least_3(0.1))));
}

TEST_CASE("tails of two samples are those of Boost's hypergeometric distribution") {
  Philox stream(test_seed(7), Site{0, 0, Draw{Use::world, 0}});
  for (int i = 0; i < 300; ++i) {
    const auto size = [&] { return 50 + static_cast<std::uint64_t>(open_unit(stream()) * 3000); };
    const std::uint64_t first_size = size();
    const std::uint64_t second_size = size();
    const auto first = static_cast<std::uint64_t>(open_unit(stream()) * 9);
    const auto second = static_cast<std::uint64_t>(open_unit(stream()) * 9);
    const FitTest found =
        two_sample_test(Counts{first_size - first, first}, Counts{second_size - second, second}, 40);
    if (first + second == 0) continue;
    REQUIRE(found.tails == 1);
    const boost::math::hypergeometric_distribution<double> law(
        static_cast<unsigned>(first + second), static_cast<unsigned>(first_size),
        static_cast<unsigned>(first_size + second_size));
    const auto seen = static_cast<unsigned>(first);
    const double lower = boost::math::cdf(law, seen);
    const double upper = seen == 0 ? 1 : boost::math::cdf(boost::math::complement(law, seen - 1));
    CHECK(found.tail_p == doctest::Approx(std::min(1.0, 2 * std::min(lower, upper))).epsilon(1e-7));
  }
}

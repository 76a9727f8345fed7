// Tests whether the intervals of few values, and of the difference to the best of several runs, cover. Null:
// an interval of 95% covers in a share .95 of 3,000 runs; seven standard deviations are .028. Conservative
// bounds may cover more.
#include "analysis/statistics/sample_intervals.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/random/philox.hpp"
#include "tests/bounds.hpp"

using namespace speclab;

namespace {

constexpr std::uint32_t sample_repeats = 3000;
constexpr double min_covered = 0.922;

Philox sample_stream(std::uint32_t repeat, std::uint16_t slot) {
  return {test_seed(5410), Site{repeat, 0, Draw{Use::world, slot}}};
}

/// Draws a token from q, by inversion.
std::size_t drawn_from(const std::vector<double>& q, Philox& stream) {
  double left = open_unit(stream());
  std::size_t token = 0;
  while (token + 1 < q.size() && left >= q[token]) left -= q[token++];
  return token;
}

double standard_normal(Philox& stream) {
  const double radius = std::sqrt(-2 * std::log(open_unit(stream())));
  return radius * std::cos(2 * 3.14159265358979323846 * open_unit(stream()));
}

}  // namespace

TEST_CASE("means of min(1, p/q) of few drafted tokens are covered, and by normal quantiles they are not") {
  struct Pair {
    std::vector<double> p, q;
  };
  const std::vector<Pair> pairs{{{.5, .3, .2}, {.45, .35, .2}},
                                {{.98, .02, 0}, {.9, 0, .1}},
                                {{.97, .03, 0}, {.95, .02, .03}},
                                {{.5, .3, .2}, {.1, .3, .6}},
                                {{.99, .01}, {.05, .95}}};
  for (std::size_t pair = 0; pair < pairs.size(); ++pair) {
    const auto& [p, q] = pairs[pair];
    double truth = 0;
    for (std::size_t i = 0; i < p.size(); ++i) truth += std::min(p[i], q[i]);
    for (const std::size_t tokens : {5U, 10U, 30U, 300U}) {
      CAPTURE(pair);
      CAPTURE(tokens);
      std::uint32_t covered = 0;
      std::uint32_t normal_covered = 0;
      for (std::uint32_t repeat = 0; repeat < sample_repeats; ++repeat) {
        Philox stream = sample_stream(repeat, static_cast<std::uint16_t>(10 + pair));
        std::vector<double> values;
        for (std::size_t i = 0; i < tokens; ++i) {
          const std::size_t token = drawn_from(q, stream);
          values.push_back(std::min(1.0, p[token] / q[token]));
        }
        const Interval found = independent_mean_interval(values, {0, 1}, .95);
        covered += found.holds(truth) ? 1 : 0;
        double squares = 0;
        for (const double value : values) squares += (value - found.estimate) * (value - found.estimate);
        const auto n = static_cast<double>(tokens);
        normal_covered += std::abs(found.estimate - truth) <= 1.959964 * std::sqrt(squares / (n - 1) / n);
      }
      CHECK(covered >= min_covered * sample_repeats);
      // Planted: the interval of an earlier version.
      if (tokens <= 10) CHECK(normal_covered < min_covered * sample_repeats);
    }
  }
}

TEST_CASE("many values of every kind have Student's interval, and values that are all alike a width") {
  std::vector<double> values;
  Philox stream = sample_stream(0, 20);
  for (int i = 0; i < 500; ++i) values.push_back(open_unit(stream()));
  const std::vector<double> ones(values.size(), 1);
  const Interval found = independent_mean_interval(values, {0, 1}, .9);
  const Interval student = *ratio_interval(values, ones, .9);
  CHECK(found.low == student.low);
  CHECK(found.high == student.high);
  const Interval alike = independent_mean_interval(std::vector<double>(10, 1.0), {0, 1}, .95);
  CHECK(alike.high == 1);
  CHECK(alike.low == doctest::Approx(std::pow(.025, .1)));
}

TEST_CASE(
    "the difference to the best of several is covered where luck chooses the best, and clear losers do no harm") {
  constexpr std::size_t batches = 32;
  struct Truth {
    std::vector<double> others;
    double run;
  };
  for (const Truth& truth : {Truth{{1, 1, 1}, 1}, Truth{{1, 1, 1}, 1.02}, Truth{{1, .99, .5}, 1},
                             Truth{{1, 1, 1, 1, 1, 1, 1, 1}, .9}}) {
    const double difference = truth.run - *std::ranges::max_element(truth.others);
    CAPTURE(truth.others.size());
    CAPTURE(difference);
    std::uint32_t covered = 0;
    std::uint32_t chosen_covered = 0;
    for (std::uint32_t repeat = 0; repeat < sample_repeats; ++repeat) {
      Philox stream = sample_stream(repeat, 21);
      const std::vector<double> ones(batches, 1);
      // Batches share most of their noise between runs, as with shared random numbers.
      std::vector<std::vector<double>> values(truth.others.size() + 1);
      for (std::size_t b = 0; b < batches; ++b) {
        const double shared = 0.2 * standard_normal(stream);
        for (std::size_t i = 0; i < values.size(); ++i) {
          const double mean = i < truth.others.size() ? truth.others[i] : truth.run;
          values[i].push_back(mean + shared + 0.05 * standard_normal(stream));
        }
      }
      std::vector<BatchRatio> others;
      for (std::size_t i = 0; i < truth.others.size(); ++i) others.push_back({values[i], ones});
      const BatchRatio run{values.back(), ones};
      covered += difference_to_best(run, others, .95)->holds(difference) ? 1 : 0;
      // Planted: the paired interval to the run with the largest estimate in these batches.
      const auto chosen = std::ranges::max_element(others, {}, [](const BatchRatio& one) {
        return ratio_interval(one.numerators, one.denominators, .5)->estimate;
      });
      chosen_covered += paired_difference(run, *chosen, .95)->holds(difference) ? 1 : 0;
    }
    CHECK(covered >= min_covered * sample_repeats);
    if (truth.others.size() == 8) CHECK(chosen_covered < min_covered * sample_repeats);
  }
}

TEST_CASE("the difference to one other is the paired one, and unknown where they do not differ") {
  const std::vector<double> ones(4, 1);
  const std::vector<double> run{1, 2, 4, 3};
  const std::vector<double> other{2, 2.5, 4.2, 3.7};
  const std::vector<double> slow{.1, .2, .15, .12};
  const BatchRatio others[]{{other, ones}, {slow, ones}};
  const auto paired = paired_difference({run, ones}, others[0], .95);
  const auto one = difference_to_best({run, ones}, std::span(others, 1), .95);
  CHECK(one->low == paired->low);
  CHECK(one->high == paired->high);
  // Planted: a worse run that these four batches cannot distinguish from the best keeps the bounds wide.
  const auto two = difference_to_best({run, ones}, others, .95);
  CHECK(two->estimate == paired->estimate);
  CHECK(two->low < paired->low);
  CHECK_FALSE(difference_to_best(others[0], std::span(others, 1), .95)->bounded());
}

TEST_CASE(
    "texts of which some can be copied: eight sequences do not tell, 32 do where the kinds are no rarer than a tenth") {
  // A sequence has 100 tokens by rounds of five drafted tokens, accepted with .8 where it copies and .1
  // elsewhere; speed is tokens over rounds. The null is as above, but .93 is required. Rarer kinds may be
  // missing among the sequences.
  constexpr double tokens = 100;
  const auto rounds_of = [](double copied, Philox& stream) {
    const double alpha = open_unit(stream()) < copied ? .8 : .1;
    double rounds = 0;
    for (int out = 0; out < 100; ++rounds) {
      int accepted = 0;
      while (accepted < 5 && open_unit(stream()) < alpha) ++accepted;
      out += accepted + 1;
    }
    return rounds;
  };
  struct Coverage {
    double found = 0, student = 0, paired = 0;
  };
  const auto coverage_of = [&](double copied, std::size_t sequences, double quantile) {
    Philox many = sample_stream(0, 22);
    double sum = 0;
    constexpr int all = 200000;
    for (int i = 0; i < all; ++i) sum += rounds_of(copied, many);
    const double truth = tokens * all / sum;
    Coverage covered;
    for (std::uint32_t repeat = 0; repeat < sample_repeats; ++repeat) {
      Philox stream = sample_stream(repeat, 23);
      const std::vector<double> emitted(sequences, tokens);
      std::vector<double> rounds;
      for (std::size_t i = 0; i < sequences; ++i) rounds.push_back(rounds_of(copied, stream));
      const Interval found = *bounded_ratio_interval(emitted, rounds, {1, 6}, .95);
      covered.found += found.holds(truth) ? 1.0 / sample_repeats : 0;
      // Planted: Student's t by itself, of the linearised ratio.
      double squares = 0;
      double total = 0;
      for (const double one : rounds) total += one;
      const auto n = static_cast<double>(sequences);
      for (const double one : rounds) squares += std::pow((tokens - found.estimate * one) * n / total, 2);
      const double half = quantile * std::sqrt(squares / (n - 1) / n);
      covered.student += std::abs(found.estimate - truth) <= half ? 1.0 / sample_repeats : 0;
      // Beside a run that is always as fast, as a policy beside a fixed gamma.
      const std::vector<double> constant(sequences, 50);
      const auto gain = paired_difference({emitted, rounds}, {emitted, constant}, .95);
      covered.paired += gain->holds(truth - 2) ? 1.0 / sample_repeats : 0;
    }
    return covered;
  };
  constexpr double least = .93;
  constexpr double of_32 = 2.0395;  // Student's quantiles with 31 and 63 degrees
  constexpr double of_64 = 1.9983;
  for (const double copied : {.1, .15, .3, .5}) {
    CAPTURE(copied);
    const Coverage of = coverage_of(copied, 32, of_32);
    CHECK(of.found >= least);
    CHECK(of.paired >= least);
    if (copied <= .15) CHECK(of.student < min_covered);
  }
  const Coverage twice = coverage_of(.05, 64, of_64);
  CHECK(twice.found >= least);
  CHECK(twice.student < min_covered);
  CHECK(coverage_of(.15, 8, 2.3646).found < .8);
}

TEST_CASE("where 32 batches are skewed an end is where Hall's transformation of t has Student's quantile") {
  std::vector<double> values(32, 0.0);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = 0.01 * static_cast<double>(i % 7);
  values[3] = values[11] = 5;
  const std::vector<double> ones(32, 1);
  double mean = 0;
  for (const double one : values) mean += one / 32;
  double squares = 0;
  double cubes = 0;
  for (const double one : values) {
    squares += (one - mean) * (one - mean);
    cubes += std::pow(one - mean, 3);
  }
  const double g = cubes / 32 / std::pow(squares / 32, 1.5);
  const Interval skewed = *ratio_interval(values, ones, .95);
  const double t = (mean - skewed.high) / std::sqrt(squares / 31);
  const double transformed = t + g * t * t / 3 + g * g * t * t * t / 27 + g / (6 * 32);
  CHECK(transformed * std::sqrt(32.0) == doctest::Approx(-2.039513446));
  // Student's t is the wider one on the other side, and symmetric.
  CHECK((mean - skewed.low) / std::sqrt(squares / 31 / 32) == doctest::Approx(2.039513446));
  // The mirrored values have the mirrored interval; 31 batches have Student's.
  std::vector<double> mirrored = values;
  for (double& one : mirrored) one = -one;
  CHECK(ratio_interval(mirrored, ones, .95)->low == doctest::Approx(-skewed.high));
  const Interval fewer = *ratio_interval(std::span(values).first(31), std::span(ones).first(31), .95);
  CHECK(fewer.high - fewer.estimate == doctest::Approx(fewer.estimate - fewer.low));
}

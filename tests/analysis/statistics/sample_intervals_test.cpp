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
constexpr double least_covered = 0.922;

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
      CHECK(covered >= least_covered * sample_repeats);
      // Planted: the interval of an earlier version.
      if (tokens <= 10) CHECK(normal_covered < least_covered * sample_repeats);
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
    CHECK(covered >= least_covered * sample_repeats);
    if (truth.others.size() == 8) CHECK(chosen_covered < least_covered * sample_repeats);
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
    "texts of which some can be copied: eight sequences do not tell, 32 do where the kinds are not rare") {
  // A sequence of 100 tokens runs in rounds of five drafts, accepted with .8 where it copies and .1
  // elsewhere; speed is tokens over rounds. Null as above; with eight sequences Student's t misses it
  // (planted).
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
  const auto coverage = [&](double copied, std::size_t sequences) {
    Philox many = sample_stream(0, 22);
    double sum = 0;
    constexpr int all = 200000;
    for (int i = 0; i < all; ++i) sum += rounds_of(copied, many);
    const double truth = tokens * all / sum;
    std::uint32_t covered = 0;
    for (std::uint32_t repeat = 0; repeat < sample_repeats; ++repeat) {
      Philox stream = sample_stream(repeat, 23);
      const std::vector<double> emitted(sequences, tokens);
      std::vector<double> rounds;
      for (std::size_t i = 0; i < sequences; ++i) rounds.push_back(rounds_of(copied, stream));
      covered += bounded_ratio_interval(emitted, rounds, {1, 6}, .95)->holds(truth) ? 1 : 0;
    }
    return covered / double(sample_repeats);
  };
  CHECK(coverage(.3, 32) >= least_covered);
  CHECK(coverage(.5, 32) >= least_covered);
  CHECK(coverage(.15, 8) < .8);
}

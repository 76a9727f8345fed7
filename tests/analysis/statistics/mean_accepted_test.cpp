#include "analysis/statistics/mean_accepted.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <random>

using namespace speclab;

TEST_CASE("the mean of accepted tokens is the sum of powers, and its inverse returns alpha") {
  CHECK(mean_accepted(.5, 3) == doctest::Approx(.875));
  CHECK(mean_accepted(.5, 2.5) == doctest::Approx(.8125));
  for (const double alpha : {0., .1, .75, .999, 1.}) {
    CHECK(alpha_of_mean(mean_accepted(alpha, 5), 5) == doctest::Approx(alpha));
    CHECK(alpha_of_mean(mean_accepted(alpha, 3.4), 3.4) == doctest::Approx(alpha));
  }
}

TEST_CASE("intervals at the ends stay within 0 and 1") {
  const Interval none = alpha_of_mean(0, {{5, 1}}, 100, .95);
  CHECK(none.low == 0);
  CHECK(none.estimate == 0);
  CHECK(none.high > .005);
  CHECK(none.high < .1);
  const Interval all = alpha_of_mean(5, {{5, 1}}, 100, .95);
  CHECK(all.high == 1);
  CHECK(all.low > .98);
  CHECK(all.low < 1);
}

// Null: the interval contains alpha with probability 0.95. The number of such logs among 2,000 is binomial:
// fewer than 1,840 (8.2 standard deviations below 1,900 by the normal approximation of its tail, p < 1e-9)
// refute it, and so do more than 1,965 (6.7 above).
TEST_CASE("the score interval holds alpha in 95% of logs") {
  std::mt19937_64 random(7);
  int held = 0;
  constexpr double alpha = .7;
  constexpr int gamma = 4;
  constexpr int rounds = 300;
  std::uniform_real_distribution<double> uniform;
  for (int log = 0; log < 2000; ++log) {
    int sum = 0;
    for (int round = 0; round < rounds; ++round) {
      for (int i = 0; i < gamma && uniform(random) < alpha; ++i) ++sum;
    }
    const Interval found = alpha_of_mean(sum / double(rounds), {{gamma, 1}}, rounds, .95);
    held += found.low <= alpha && alpha <= found.high;
  }
  CHECK(held > 1840);
  CHECK(held < 1965);
}

TEST_CASE("alpha of counted rounds is that of their mean, of lines that of their stretches") {
  const LoggedMeans counted{500, 5, mean_accepted(0.7, 5), {}, {}};
  const Interval direct = alpha_of_mean(counted.accepted, {{5, 1}}, 500, 0.95);
  const Interval alpha = alpha_of_means(counted, 0.95);
  CHECK(alpha.estimate == doctest::Approx(0.7));
  CHECK(alpha.low == direct.low);
  CHECK(alpha.high == direct.high);
  LoggedMeans lines{0, 5, mean_accepted(0.7, 5), {}, {}};
  for (int i = 0; i < 30; ++i) {
    lines.accepted_by_line.push_back(lines.accepted + (i % 3 - 1) * 0.3);
    lines.weights.push_back(1);
  }
  const Interval by_lines = alpha_of_means(lines, 0.95);
  CHECK(by_lines.estimate == doctest::Approx(0.7));
  CHECK(by_lines.low < 0.7);
  CHECK(by_lines.high > 0.7);
  CHECK(by_lines.high - by_lines.low < 0.1);
  // A few lines give wide intervals.
  const LoggedMeans few{0, 5, lines.accepted, {lines.accepted - 0.3, lines.accepted + 0.3}, {1, 1}};
  const Interval by_few = alpha_of_means(few, 0.95);
  CHECK(by_few.estimate == doctest::Approx(0.7));
  CHECK(by_few.high - by_few.low > 3 * (by_lines.high - by_lines.low));
}

TEST_CASE("rounds of several lengths count each with its own mean") {
  const double mean = (4 * mean_accepted(0.8, 2) + mean_accepted(0.8, 7)) / 5;
  const Interval found = alpha_of_mean(mean, DraftLengths{{2, 8000}, {7, 2000}}, 10000, 0.95);
  CHECK(found.estimate == doctest::Approx(0.8));
  CHECK(found.high - found.low < 0.02);
  CHECK(alpha_of_means({10000, 3, mean, {}, {}, {{2, 4}, {7, 1}}}, 0.95).estimate == doctest::Approx(0.8));
  // One length of the same mean has another alpha.
  CHECK(alpha_of_mean(mean, 3) < 0.77);
}

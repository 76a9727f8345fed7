#include "analysis/statistics/intervals.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "core/random/philox.hpp"
#include "tests/bounds.hpp"

using namespace speclab;

TEST_CASE("medians: the middle value, or the mean of the middle two") {
  CHECK(median({3}) == 3);
  CHECK(median({9, 1, 2}) == 2);
  CHECK(median({4, 1, 2, 9}) == 3);
  CHECK(std::isnan(median({})));
  CHECK_FALSE(median_interval({}, 0.95).has_value());
}

TEST_CASE("medians: the interval is the one of the binomial distribution") {
  // P(fewer than 2 of 11 below the median) = 12/2048; for fewer than 3 it is 67/2048 > 0.025.
  const Interval of_eleven = median_interval({11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1}, 0.95).value();
  CHECK(of_eleven.estimate == 6);
  CHECK(of_eleven.low == 2);
  CHECK(of_eleven.high == 10);
  // Six values lie on both sides except with probability 2/64; five are not enough.
  CHECK(median_interval({1, 2, 3, 4, 5, 6}, 0.95)->low == 1);
  CHECK_FALSE(median_interval({1, 2, 3, 4, 5}, 0.95)->bounded());
}

// Null: the median of exponential values is log 2. Coverage of 11 values is 1 - 2 * 12/2048 = 0.988.
TEST_CASE("medians: the interval covers as often as it says, whatever the distribution") {
  constexpr int families = 20000;
  Philox stream(test_seed(8), Site{0, 0, Draw{Use::world, 0}});
  int covered = 0;
  for (int i = 0; i < families; ++i) {
    std::vector<double> values(11);
    for (double& value : values) value = -std::log(open_unit(stream()));
    const Interval found = median_interval(values, 0.95).value();
    covered += found.low <= std::log(2) && std::log(2) <= found.high ? 1 : 0;
  }
  CHECK(count_agrees(covered, families, 1 - 24.0 / 2048));
}

#include "analysis/statistics/gamma_choice.hpp"

#include <doctest/doctest.h>

using namespace speclab;

TEST_CASE("speeds near the best") {
  const double speeds[] = {1, 1.8, 1.97, 2, 1.99, 1.5, 1.995};
  CHECK(near_best(speeds, 0.02).low == 2);
  CHECK(near_best(speeds, 0.02).high == 4);
  CHECK(near_best(speeds, 0).low == 3);
  CHECK(near_best(speeds, 0).high == 3);
  CHECK(near_best(speeds, 0.6).low == 0);
}

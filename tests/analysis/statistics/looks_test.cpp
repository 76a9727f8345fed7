#include "analysis/statistics/multiple_tests.hpp"

#include <doctest/doctest.h>

using namespace speclab;

TEST_CASE("a simulation that doubles is looked at as long as it has no more rounds than allowed") {
  CHECK(looks_at_doublings(100, 99) == 1);
  CHECK(looks_at_doublings(100, 199) == 1);
  CHECK(looks_at_doublings(100, 200) == 2);
  CHECK(looks_at_doublings(100, 800) == 4);
  CHECK(looks_at_doublings(1, ~std::uint64_t{0}) == 64);
}

TEST_CASE("the errors of all looks add up to that of the whole") {
  CHECK(look_confidence(0.95, 1) == doctest::Approx(0.95));
  CHECK(look_confidence(0.95, 10) == doctest::Approx(0.995));
}

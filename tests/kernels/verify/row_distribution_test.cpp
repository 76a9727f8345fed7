#include "kernels/verify/row_distribution.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>

using namespace speclab;

namespace {

double relative_error(float t, float found) {
  const double expected = -std::expm1(static_cast<double>(t) * std::log(2.0));
  return std::abs(static_cast<double>(found) - expected) / expected;
}

}  // namespace

TEST_CASE("1 - 2^t is right to 2.5e-6 of itself in every binade") {
  double worst = 0;
  // Normal numbers only: a subnormal one is right to half of its grain.
  for (int exponent = -125; exponent < 128; ++exponent) {
    // Each binade gets 4,096 numbers, and both ends.
    for (int i = 0; i <= 4096; ++i) {
      const float t = -std::ldexp(1 + static_cast<float>(i) / 4096, exponent);
      worst = std::max(worst, relative_error(t, one_minus_power(t)));
    }
  }
  // Where the two forms meet, every number is tested.
  float t = -0.15627F;
  for (int i = 0; i < 10000; ++i, t = std::nextafter(t, 0.0F)) {
    worst = std::max(worst, relative_error(t, one_minus_power(t)));
  }
  CHECK(worst < 2.5e-6);
  CHECK(worst > 1e-7);
  // The GPU's power may be two units off: then the difference has the error of the power there.
  constexpr double near = -0.15625;
  CHECK(std::exp2(near) * 0x1p-22 / (1 - std::exp2(near)) + 0x1p-24 < 2.5e-6);
}

TEST_CASE("1 - 2^t is never negative, and a number where both probabilities are 0") {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  CHECK(one_minus_power(0) == 0);
  CHECK(one_minus_power(1e-30F) == 0);
  CHECK(one_minus_power(0.1F) == 0);
  CHECK(one_minus_power(3) == 0);
  CHECK(one_minus_power(1e38F) == 0);
  CHECK(one_minus_power(infinity) == 0);
  CHECK(one_minus_power(-infinity) == 1);
  CHECK(one_minus_power(-1e38F) == 1);
  CHECK(one_minus_power(std::numeric_limits<float>::quiet_NaN()) == 0);
}

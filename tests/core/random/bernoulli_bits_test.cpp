#include "core/random/bernoulli_bits.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "core/random/philox.hpp"

using namespace speclab;

TEST_CASE("integer thresholds decide as the comparison of doubles does") {
  Philox stream(1, Site{0, 0, Draw{Use::world, 0}});
  std::vector<double> probabilities{0,
                                    1,
                                    2,
                                    -1,
                                    0.5,
                                    0x1p-53,
                                    0x1p-52,
                                    0x1.8p-52,
                                    std::nextafter(0x1p-53, 1),
                                    std::nextafter(1.0, 0),
                                    1 - 0x1p-52,
                                    std::numeric_limits<double>::denorm_min(),
                                    std::numeric_limits<double>::quiet_NaN(),
                                    std::numeric_limits<double>::infinity()};
  for (int i = 0; i < 2000; ++i) {
    const double u = open_unit(stream());
    const double scaled = std::ldexp(u, -static_cast<int>(stream() % 60));
    for (const double p : {u, scaled, std::nextafter(u, 0), std::nextafter(u, 1)}) probabilities.push_back(p);
  }
  const std::uint64_t largest = (std::uint64_t{1} << 52U) - 1;
  for (const double probability : probabilities) {
    const std::uint64_t threshold = bernoulli_threshold(probability);
    std::vector<std::uint64_t> numbers{0, largest, stream() >> 12U};
    if (threshold > 0) numbers.push_back(threshold - 1);
    if (threshold <= largest) numbers.push_back(threshold);
    for (const std::uint64_t number : numbers) {
      const std::uint64_t word = (number << 12U) | (stream() & 0xfffU);
      REQUIRE(uniform_number(word) == number);
      CHECK((uniform_number(word) < threshold) == (open_unit(word) < probability));
    }
  }
}

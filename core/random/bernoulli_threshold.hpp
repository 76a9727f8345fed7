// Makes Bernoulli draws with integers: compares a uniform with a probability without converting it to double.
#pragma once

#include <cmath>
#include <cstdint>

#include "core/host_device.hpp"

namespace speclab {

/// Returns k in 0..2^52 - 1 such that `open_unit(word)` is (k + 1/2) / 2^52.
SPECLAB_HD inline std::uint64_t uniform_number(std::uint64_t word) { return word >> 12U; }

/// Returns how many values of `open_unit` lie strictly below `probability`, so that
///     uniform_number(word) < bernoulli_threshold(probability)   iff   open_unit(word) < probability.
/// The values of `open_unit` are (k + 1/2) / 2^52; scaling by 2^52 and subtracting 1/2 are exact. A NaN
/// probability counts as 0.
SPECLAB_HD inline std::uint64_t bernoulli_threshold(double probability) {
  constexpr double values = 0x1p52;
  if (!(probability > 0)) return 0;
  if (probability >= 1) return std::uint64_t{1} << 52U;
  const double scaled = probability * values;
  return scaled <= 0.5 ? 0 : static_cast<std::uint64_t>(std::ceil(scaled - 0.5));
}

}  // namespace speclab

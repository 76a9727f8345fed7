// Makes Bernoulli draws with integers: compares a uniform with a probability without converting it to double.
// Tables hold the upper 32 bits of the thresholds.
#pragma once

#include <algorithm>
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

/// Number of low bits dropped from the 52-bit threshold.
inline constexpr int bernoulli_low_bits = 20;

/// Returns the upper 32 of a threshold's 52 bits. If a uniform number's upper bits differ from these, they
/// decide the draw; if equal (once in 2^32 draws), the probability itself decides. (Probability 1 would need
/// a 33rd bit; the largest numbers count as equal, too.)
inline std::uint32_t bernoulli_bits(double probability) {
  return static_cast<std::uint32_t>(
      std::min<std::uint64_t>(bernoulli_threshold(probability) >> bernoulli_low_bits, 0xffffffffU));
}

/// Returns the probability that `bits` encode, in units of 2^-32; the largest value encodes 1.
inline std::uint64_t bernoulli_quanta(std::uint32_t bits) {
  return std::uint64_t{bits} + (bits == 0xffffffffU);
}

/// Returns the bits of a random word that are compared with `bernoulli_bits`.
SPECLAB_HD inline std::uint32_t bernoulli_bits_of(std::uint64_t word) {
  return static_cast<std::uint32_t>(uniform_number(word) >> bernoulli_low_bits);
}

}  // namespace speclab

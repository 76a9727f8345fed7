// Thresholds of Bernoulli draws cut to 32 bits, for tables.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/random/bernoulli_threshold.hpp"

namespace speclab {

/// Bits of the 52-bit threshold that are left out.
inline constexpr int bernoulli_low_bits = 20;

/// The upper 32 of a threshold's 52 bits. A uniform number whose upper bits differ from these is decided by
/// them; equal ones, one in 2^32, need the probability itself. (Probability 1 would take a 33rd bit: its
/// largest numbers count as equal, too.)
inline std::uint32_t bernoulli_bits(double probability) {
  return static_cast<std::uint32_t>(
      std::min<std::uint64_t>(bernoulli_threshold(probability) >> bernoulli_low_bits, 0xffffffffU));
}

/// The probability they stand for, in units of 2^-32; the largest stands for 1.
inline std::uint64_t bernoulli_quanta(std::uint32_t bits) {
  return std::uint64_t{bits} + (bits == 0xffffffffU);
}

/// The bits of a random word that are compared with them.
SPECLAB_HD inline std::uint32_t bernoulli_bits_of(std::uint64_t word) {
  return static_cast<std::uint32_t>(uniform_number(word) >> bernoulli_low_bits);
}

}  // namespace speclab

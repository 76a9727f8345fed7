// Thresholds of Bernoulli draws, cut to 32 bits for tables.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/random/bernoulli_threshold.hpp"

namespace speclab {

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

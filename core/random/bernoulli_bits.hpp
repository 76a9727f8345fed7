// Coins cut to 32 bits for tables.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/random/bernoulli_threshold.hpp"

namespace speclab {

/// Of the 52 bits of a coin, those that are left out.
inline constexpr int coin_low_bits = 20;

/// The upper 32 of a threshold's 52 bits. A coin number whose upper bits differ from these is decided by
/// them; equal ones, one in 2^32, need the probability itself. (Probability 1 would take a 33rd bit: its
/// largest numbers count as equal, too.)
inline std::uint32_t coin_bits(double probability) {
  return static_cast<std::uint32_t>(
      std::min<std::uint64_t>(coin_threshold(probability) >> coin_low_bits, 0xffffffffU));
}

/// The probability they stand for, in units of 2^-32; the largest stands for 1.
inline std::uint64_t coin_quanta(std::uint32_t bits) { return std::uint64_t{bits} + (bits == 0xffffffffU); }

/// The bits of a random word that are held against them.
SPECLAB_HD inline std::uint32_t coin_bits_of(std::uint64_t word) {
  return static_cast<std::uint32_t>(coin_number(word) >> coin_low_bits);
}

}  // namespace speclab

// Sorts many unsigned integers faster than by comparisons.
#pragma once

#include <array>
#include <cstddef>
#include <utility>
#include <vector>

#include "core/stop.hpp"

namespace speclab {

/// Sorts by key >> first_bit; keys that are equal in this keep their order. No key has bits from `last_bit`
/// on. `scratch` is memory of the same size; its contents do not matter. Time: one pass that counts, and one
/// pass that moves for each 11 bits in which keys differ (least significant digit first: Knuth, The Art of
/// Computer Programming 3, section 5.2.5).
template <class Key>
void radix_sort(std::vector<Key>& keys, std::vector<Key>& scratch, int first_bit, int last_bit) {
  // 2048 write positions fit into the second-level data cache and TLB.
  constexpr int digit_bits = 11;
  constexpr std::size_t digits = std::size_t{1} << digit_bits;
  const auto digit = [](Key key, int bit) { return static_cast<std::size_t>(key >> bit) & (digits - 1); };

  std::vector<std::array<std::size_t, digits>> counts(
      static_cast<std::size_t>((last_bit - first_bit + digit_bits - 1) / digit_bits));
  for (const Key key : keys) {
    int bit = first_bit;
    for (auto& count : counts) {
      ++count[digit(key, bit)];
      bit += digit_bits;
    }
  }
  scratch.resize(keys.size());
  int bit = first_bit;
  for (auto& count : counts) {
    end_if_stopped();
    const bool all_equal = !keys.empty() && count[digit(keys.front(), bit)] == keys.size();
    if (!all_equal) {
      std::size_t start = 0;
      for (std::size_t& place : count) start += std::exchange(place, start);
      for (const Key key : keys) scratch[count[digit(key, bit)]++] = key;
      keys.swap(scratch);
    }
    bit += digit_bits;
  }
}

}  // namespace speclab

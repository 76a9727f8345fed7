// Alias tables draw an item with probability proportional to its weight from one random number and one
// look-up, for any number of items (Walker 1977; Vose 1991, "A linear algorithm for generating random numbers
// with a given distribution").
#pragma once

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/host_device.hpp"

namespace speclab {

/// One slot of a table. A table has 2^bits slots, at least as many as items, and slot i belongs to item i.
/// The top bits of a 64-bit word choose the slot, without bias. The next 32 bits choose the slot's own item
/// if they lie below `cut`, else `other`. This rounds each probability by at most 2^-33 of a slot; the total
/// variation error is at most 2^-33.
struct AliasSlot {
  std::uint32_t cut;
  std::uint32_t other;
};

/// Returns the binary logarithm of the number of slots for `items` >= 1 items; at most 2^31 items.
inline int alias_bits(std::size_t items) { return static_cast<int>(std::bit_width(items - 1)); }

SPECLAB_HD inline std::uint32_t alias_slot(std::uint64_t word, int bits) {
  return static_cast<std::uint32_t>((word >> 1U) >> (63 - bits));
}

SPECLAB_HD inline std::uint32_t alias_fraction(std::uint64_t word, int bits) {
  return static_cast<std::uint32_t>((word << bits) >> 32U);
}

/// Memory for building tables; reuse it to avoid allocation.
struct AliasScratch {
  std::vector<double> left;
  std::vector<std::uint32_t> small;
  std::vector<std::uint32_t> large;
};

/// Builds the table of `weights` in `slots`; slots.size() is a power of two. Weights are non-negative with a
/// positive finite total; an item of weight zero is never drawn. Slots without an item always take their
/// `other`.
inline void build_alias(std::span<const double> weights, std::span<AliasSlot> slots, AliasScratch& scratch) {
  assert(std::has_single_bit(slots.size()) && weights.size() <= slots.size());
  constexpr double ones = 0x1p32;
  double total = 0;
  for (const double weight : weights) total += weight;
  // A total whose inverse would overflow is first scaled by a power of 2, which is exact.
  const double lift = total < 0x1p-900 ? 0x1p900 : 1;
  const double scale = static_cast<double>(slots.size()) / (total * lift);

  // left[i] is the weight of item i that is not placed yet, in slots.
  std::vector<double>& left = scratch.left;
  std::vector<std::uint32_t>& small = scratch.small;
  std::vector<std::uint32_t>& large = scratch.large;
  left.assign(slots.size(), 0.0);
  small.clear();
  large.clear();
  std::uint32_t heaviest = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    left[i] = weights[i] * lift * scale;
    if (left[i] > left[heaviest]) heaviest = static_cast<std::uint32_t>(i);
  }
  for (std::uint32_t i = 0; i < slots.size(); ++i) (left[i] < 1 ? small : large).push_back(i);

  const auto fill = [&](std::uint32_t i, std::uint32_t other) {
    const double own = std::min(std::round(left[i] * ones), ones);
    slots[i] = own == ones ? AliasSlot{0, i} : AliasSlot{static_cast<std::uint32_t>(own), other};
  };
  while (!small.empty() && !large.empty()) {
    const std::uint32_t less = small.back();
    const std::uint32_t more = large.back();
    small.pop_back();
    fill(less, more);
    left[more] = (left[more] + left[less]) - 1;
    if (left[more] < 1) {
      large.pop_back();
      small.push_back(more);
    }
  }
  for (const std::uint32_t i : large) slots[i] = {0, i};
  // These items remain because of rounding: each is within rounding of a full slot, or has weight zero.
  for (const std::uint32_t i : small) fill(i, heaviest);
}

}  // namespace speclab

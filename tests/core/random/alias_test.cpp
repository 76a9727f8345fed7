#include "core/random/alias.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>
#include <numeric>
#include <vector>

#include "core/random/philox.hpp"

using namespace speclab;

namespace {

std::vector<AliasSlot> table_of(const std::vector<double>& weights) {
  std::vector<AliasSlot> slots(std::size_t{1} << alias_bits(weights.size()));
  AliasScratch scratch;
  build_alias(weights, slots, scratch);
  return slots;
}

/// Returns the exact distribution of a table's items, in units of 2^-32 of a slot.
std::vector<std::uint64_t> distribution_of(const std::vector<AliasSlot>& slots) {
  std::vector<std::uint64_t> distribution(slots.size());
  for (std::size_t i = 0; i < slots.size(); ++i) {
    distribution[i] += slots[i].cut;
    distribution[slots[i].other] += (std::uint64_t{1} << 32U) - slots[i].cut;
  }
  return distribution;
}

}  // namespace

TEST_CASE(
    "a table's distribution is the weights' to 2^-33 of a slot each, and zero weights are never drawn") {
  Philox stream(3, Site{0, 0, Draw{Use::world, 0}});
  for (int instance = 0; instance < 300; ++instance) {
    std::vector<double> weights(1 + stream() % 300);
    const int kind = instance % 4;
    for (double& weight : weights) {
      const double u = open_unit(stream());
      weight = kind == 0 ? u : kind == 1 ? std::pow(u, 30) : kind == 2 ? (u < 0.7 ? 0 : u) : 1;
    }
    weights[stream() % weights.size()] = kind == 3 ? 1e9 : 1;
    const std::vector<AliasSlot> slots = table_of(weights);
    const std::vector<std::uint64_t> distribution = distribution_of(slots);
    const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
    const double scale = static_cast<double>(slots.size()) / total * 0x1p32;
    double distance = 0;
    for (std::size_t i = 0; i < slots.size(); ++i) {
      const double wanted = i < weights.size() ? weights[i] * scale : 0;
      if (wanted == 0) CHECK(distribution[i] == 0);
      distance += std::abs(static_cast<double>(distribution[i]) - wanted) / 2;
    }
    // The bound is half a unit per slot, and the rounding of sums of doubles.
    CHECK(distance <= 0.5 * static_cast<double>(slots.size()) + 1);
  }
}

TEST_CASE("the corners: one item, two, all probability on one, equal weights") {
  CHECK(alias_bits(1) == 0);
  CHECK(alias_bits(2) == 1);
  CHECK(alias_bits(256) == 8);
  CHECK(alias_bits(257) == 9);
  CHECK(distribution_of(table_of({0.3})) == std::vector<std::uint64_t>{std::uint64_t{1} << 32U});
  CHECK(distribution_of(table_of({1, 3})) ==
        std::vector<std::uint64_t>{std::uint64_t{1} << 31U, std::uint64_t{3} << 31U});
  CHECK(distribution_of(table_of({0, 5, 0})) == std::vector<std::uint64_t>{0, std::uint64_t{4} << 32U, 0, 0});
  for (const AliasSlot& slot : table_of(std::vector<double>(8, 0.125))) CHECK(slot.cut == 0);
}

TEST_CASE("slot and fraction are the word's bits, from the top") {
  const std::uint64_t word = 0xfedcba9876543210;
  CHECK(alias_slot(word, 0) == 0);
  CHECK(alias_fraction(word, 0) == 0xfedcba98);
  CHECK(alias_slot(word, 8) == 0xfe);
  CHECK(alias_fraction(word, 8) == 0xdcba9876);
  CHECK(alias_slot(word, 31) == 0xfedcba98 >> 1U);
  CHECK(alias_fraction(word, 32) == 0x76543210);
}

TEST_CASE("weights of the smallest positive doubles are drawn by their shares") {
  const double least = 0x1p-1074;
  CHECK(distribution_of(table_of({least, 3 * least})) ==
        std::vector<std::uint64_t>{std::uint64_t{1} << 31U, std::uint64_t{3} << 31U});
  CHECK(distribution_of(table_of({0, least, 0, 0})) ==
        std::vector<std::uint64_t>{0, std::uint64_t{4} << 32U, 0, 0});
}

#include "sim/models/radix_sort.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sim/models/packed_ngram.hpp"
#include "tests/sim/random_tokens.hpp"

using namespace speclab;

namespace {
/// Sorts `size` random keys of `bits` bits by the bits from `first_bit` on, and compares with the standard
/// library.
template <class Key>
bool agrees(std::size_t size, int first_bit, int bits) {
  Philox stream = world(static_cast<std::uint64_t>(bits));
  std::vector<Key> keys;
  while (keys.size() < size) {
    const PackedNgram word = (PackedNgram{stream()} << 64U) | stream();
    keys.push_back(static_cast<Key>(bits == 0 ? 0 : word >> (128 - bits)));
  }
  std::vector<Key> expected = keys;
  std::stable_sort(expected.begin(), expected.end(),
                   [&](Key a, Key b) { return (a >> first_bit) < (b >> first_bit); });
  std::vector<Key> scratch;
  radix_sort(keys, scratch, first_bit, bits);
  return keys == expected;
}
}  // namespace

TEST_CASE("radix sort: any width, stable in the bits below the first") {
  for (const std::size_t size : {0U, 1U, 2U, 3000U}) {
    for (const int bits : {0, 1, 10, 11, 12, 40, 63, 64}) CHECK(agrees<std::uint64_t>(size, 0, bits));
    for (const int bits : {45, 64, 75, 127, 128}) CHECK(agrees<PackedNgram>(size, 0, bits));
    CHECK(agrees<std::uint64_t>(size, 13, 18));
    CHECK(agrees<std::uint64_t>(size, 13, 13));
    CHECK(agrees<PackedNgram>(size, 32, 128));
  }
}

TEST_CASE("radix sort: digits in which no key differs, and scratch of another size") {
  std::vector<std::uint64_t> keys{0x500000003U, 0x500000001U, 0x700000002U, 0x500000001U};
  std::vector<std::uint64_t> scratch{9};
  radix_sort(keys, scratch, 0, 40);
  CHECK(keys == std::vector<std::uint64_t>{0x500000001U, 0x500000001U, 0x500000003U, 0x700000002U});
  CHECK(scratch.size() == keys.size());
}

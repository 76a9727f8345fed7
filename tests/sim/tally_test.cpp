#include "sim/tally.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "tests/sim/random_tokens.hpp"

using namespace speclab;

TEST_CASE("a round adds to each count") {
  Tally tally;
  tally.add_round(Round{5, 5, 3, 2, 7});
  tally.add_round(Round{5, 5, 5, 5, 7});
  CHECK(tally.rounds == 2);
  CHECK(tally.drafted == 10);
  CHECK(tally.examined == 8);
  CHECK(tally.accepted == 7);
  CHECK(tally.emitted == 9);
  CHECK(tally.emitted_squared == 9 + 36);
  CHECK(tally.accepted_lengths == std::vector<std::uint64_t>{0, 0, 1, 0, 0, 1});
}

TEST_CASE("overlaps are stored to half a quantum, ends exactly") {
  Tally tally;
  for (const double overlap : {0.0, 1.0, 0.1, 1.0 / 3}) tally.add_overlap(overlap);
  CHECK(tally.overlap_contexts == 4);
  CHECK(std::abs(tally.overlap_sum() - (1 + 0.1 + 1.0 / 3)) <= 2 * Tally::quantum / 2);
  Tally ends;
  ends.add_overlap(1);
  CHECK(ends.overlap_sum() == 1);
}

TEST_CASE("the order and grouping of merging cannot matter") {
  Philox stream = world(8);
  std::vector<Tally> parts(40);
  for (Tally& part : parts) {
    for (std::uint64_t round = stream() % 20; round > 0; --round) {
      const auto accepted = static_cast<std::int32_t>(stream() % 8);
      part.add_round(Round{7, 7, std::min(accepted + 1, 7), accepted, 0});
      part.add_overlap(open_unit(stream()));
    }
  }
  const auto merged = [&parts](const std::vector<std::size_t>& order) {
    Tally sum;
    for (const std::size_t i : order) sum += parts[i];
    return sum;
  };
  std::vector<std::size_t> order(parts.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const Tally forwards = merged(order);
  for (int i = 0; i < 20; ++i) {
    std::shuffle(order.begin(), order.end(), stream);
    CHECK(merged(order) == forwards);
  }
  Tally left;
  Tally right;
  for (std::size_t i = 0; i < parts.size(); ++i) (i < 13 ? left : right) += parts[i];
  right += left;
  CHECK(right == forwards);
  CHECK(forwards.emitted == forwards.accepted + forwards.rounds);
}

// Tests that hierarchical verification equals block verification except for the last token, and compares it
// with the optimum of lossless schemes.
#include "core/rules/hsd.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "analysis/exact/enumeration_program.hpp"
#include "analysis/exact/losslessness.hpp"
#include "analysis/exact/optimum.hpp"
#include "core/distribution/row.hpp"

using namespace speclab;

namespace {

using HsdGenerator = std::mt19937;

std::vector<Rational> random_row(std::int32_t vocab, HsdGenerator& generator) {
  std::vector<std::int64_t> weights;
  std::int64_t sum = 0;
  for (std::int32_t id = 0; id < vocab; ++id) {
    weights.push_back(1 + static_cast<std::int64_t>(generator() % 9));
    sum += weights.back();
  }
  std::vector<Rational> row;
  for (const std::int64_t weight : weights) row.emplace_back(weight, sum);
  return row;
}

ExactTable<Rational> random_chain(std::int32_t vocab, HsdGenerator& generator) {
  std::vector<std::vector<Rational>> rows;
  for (std::int32_t last = 0; last < vocab; ++last) rows.push_back(random_row(vocab, generator));
  return ExactTable<Rational>(std::move(rows));
}

Losslessness<Rational> by(const ExactTable<Rational>& target, const ExactTable<Rational>& draft,
                          const EnumerableRule& rule, std::int32_t gamma) {
  return examine<Rational>(ModelRef<Rational>(target), ModelRef<Rational>(draft), rule, gamma, {});
}

}  // namespace

TEST_CASE("below the last token the capped ratios give the acceptance of block verification") {
  // This follows the source: joint ratios, capped by the largest so far, and both sums.
  HsdGenerator generator(3);
  int capped = 0;
  for (int path = 0; path < 200; ++path) {
    Rational ratio(1);
    Rational largest(1);
    Rational prefix(1);
    for (int position = 0; position < 4; ++position) {
      const std::vector<Rational> p = random_row(3, generator);
      const std::vector<Rational> q = random_row(3, generator);
      Rational rho = ratio / largest;
      Rational more(0);
      Rational less(0);
      for (std::size_t id = 0; id < 3; ++id) {
        const Rational difference = rho * p[id] - q[id];
        (difference > 0 ? more : less) += difference > 0 ? difference : Rational(-difference);
      }
      CHECK(rho == prefix);
      const ScaledResidual<Rational> residual{{p.data(), 3}, {q.data(), 3}, prefix, 3};
      const Rational left_over = total_probability(residual);
      if (less > 0) {
        const Rational acceptance = more / std::max(more, less);
        CHECK(acceptance == BlockRule{}.block_acceptance_probability(left_over, prefix));
      }
      const auto drafted = static_cast<std::size_t>(generator() % 3);
      ratio *= p[drafted] / q[drafted];
      if (ratio > largest) largest = ratio;
      if (largest > 1) ++capped;
      prefix = acceptance_ratio(Rational(prefix * p[drafted]), q[drafted], Rational(1));
    }
  }
  CHECK(capped > 100);
}

TEST_CASE("where hierarchical verification emits more than block verification, it is not lossless") {
  HsdGenerator generator(5);
  int longer = 0;
  for (int instance = 0; instance < 40; ++instance) {
    const std::int32_t vocab = 2 + instance % 3;
    const std::int32_t gamma = 1 + instance % 3;
    CAPTURE(instance);
    const auto target = random_chain(vocab, generator);
    const auto draft = random_chain(vocab, generator);
    const auto block = by(target, draft, BlockRule{}, gamma);
    const auto found = by(target, draft, HsdRule{}, gamma);
    const Optimum best =
        optimum(ModelRef<Rational>(target), ModelRef<Rational>(draft), gamma, Drafting{.paths = 1}, {});
    REQUIRE(best.proved);
    CHECK(block.distance == 0);
    CHECK(block.expected_emitted == *best.proved);
    CHECK(found.expected_emitted >= *best.proved);
    CHECK((found.expected_emitted > *best.proved) == (found.distance > 0));
    if (found.distance > 0) ++longer;
    if (gamma == 1) CHECK(found.distribution == block.distribution);
  }
  CHECK(longer > 10);
}

TEST_CASE("the instance of the documentation") {
  const ExactTable<Rational> target({{Rational(1, 3), Rational(2, 3)}});
  const ExactTable<Rational> draft({{Rational(2, 3), Rational(1, 3)}});
  const auto program = by(target, draft, HsdRule{}, 2);
  CHECK(program.expected_emitted == Rational(7, 3));
  CHECK(program.distance == Rational(1, 9));
  // By the pseudocode every token but the last is accepted.
  const auto pseudocode = by(target, draft, HsdRule{HsdReading::pseudocode}, 2);
  CHECK(pseudocode.acceptance() == 1);
  CHECK(pseudocode.expected_emitted == Rational(8, 3));
  CHECK(pseudocode.distance == Rational(1, 3));
  CHECK(by(target, draft, HsdRule{HsdReading::pseudocode}, 1).distance == 0);
}

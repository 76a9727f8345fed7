// Tests that a verified length that depends only on the past keeps the target's distribution, and that one
// that depends on the token does not.
#include "core/rules/scheduled.hpp"

#include <doctest/doctest.h>

#include <random>
#include <vector>

#include "analysis/exact/enumeration_program.hpp"
#include "analysis/exact/losslessness.hpp"
#include "core/rules/engine_faults.hpp"

using namespace speclab;

namespace {

Losslessness<Rational> scheduled(const ExactTable<Rational>& target, const ExactTable<Rational>& draft,
                                 const EnumerableRule& rule, std::int32_t gamma) {
  return examine<Rational>(ModelRef<Rational>(target), ModelRef<Rational>(draft), rule, gamma, {});
}

}  // namespace

TEST_CASE("scheduled prefixes are lossless, by token and by block verification, at every bar") {
  std::mt19937 generator(8);
  const auto chain = [&](std::int32_t vocab) {
    std::vector<std::vector<Rational>> rows;
    for (std::int32_t last = 0; last < vocab; ++last) {
      std::vector<std::int64_t> weights;
      std::int64_t sum = 0;
      for (std::int32_t id = 0; id < vocab; ++id) {
        sum += weights.emplace_back(1 + static_cast<std::int64_t>(generator() % 9));
      }
      rows.emplace_back();
      for (const std::int64_t weight : weights) rows.back().emplace_back(weight, sum);
    }
    return ExactTable<Rational>(std::move(rows));
  };
  int shorter = 0;
  for (int instance = 0; instance < 20; ++instance) {
    CAPTURE(instance);
    const auto target = chain(2 + instance % 2);
    const auto draft = chain(2 + instance % 2);
    for (const double bar : {0.0, 0.2, 0.4, 1.0}) {
      for (const bool block : {false, true}) {
        const auto found = scheduled(target, draft, ScheduledRule(bar, block), 3);
        CHECK(found.distance == 0);
        const auto whole =
            block ? scheduled(target, draft, BlockRule{}, 3) : scheduled(target, draft, TokenRule{}, 3);
        if (bar == 0) CHECK(found.expected_emitted == whole.expected_emitted);
        if (bar == 1) CHECK(found.expected_emitted == 1);
        if (found.expected_emitted < whole.expected_emitted) ++shorter;
        CHECK(found.expected_emitted <= whole.expected_emitted);
      }
    }
  }
  CHECK(shorter > 40);
}

TEST_CASE("a length that depends on the token itself changes the distribution") {
  // Token 0, of draft probability .7, is verified, and accepted; token 1 is dropped, and the target is
  // sampled.
  const ExactTable<Rational> target({{Rational(17, 20), Rational(3, 20)}});
  const ExactTable<Rational> draft({{Rational(7, 10), Rational(3, 10)}});
  const auto found = scheduled(target, draft, AnticipatingFault{}, 1);
  Rational first(0);
  for (const auto& [tokens, probability] : found.distribution) {
    if (tokens.front() == 0) first += probability;
  }
  CHECK(first == Rational(7, 10) + Rational(3, 10) * Rational(17, 20));
  CHECK(found.distance == Rational(21, 200));
  CHECK(scheduled(target, draft, ScheduledRule(0.5, false), 1).distance == 0);
}

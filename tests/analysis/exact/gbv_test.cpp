// Tests greedy multi-path block verification: the distribution of the selected path, by brute force, and
// proofs.
#include "core/rules/gbv.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "analysis/exact/enumeration_program.hpp"
#include "analysis/exact/losslessness.hpp"
#include "analysis/exact/optimum.hpp"
#include "core/distribution/ratio_order.hpp"

using namespace speclab;

namespace {

using GbvGenerator = std::mt19937;

/// Returns rows of weights below 7, some zero, for each last token.
ExactTable<Rational> chain_with_zeros(std::int32_t vocab, GbvGenerator& generator) {
  std::vector<std::vector<Rational>> rows;
  while (rows.size() < static_cast<std::size_t>(vocab)) {
    std::vector<std::int64_t> weights;
    std::int64_t sum = 0;
    for (std::int32_t id = 0; id < vocab; ++id) sum += weights.emplace_back(generator() % 7);
    if (sum == 0) continue;
    rows.emplace_back();
    for (const std::int64_t weight : weights) rows.back().emplace_back(weight, sum);
  }
  return ExactTable<Rational>(std::move(rows));
}

struct RankedPath {
  std::vector<Token> tokens;
  std::vector<std::size_t> rank;  ///< of each token in the order of its context
  Rational probability{1};
};

std::vector<RankedPath> all_paths(const ExactTable<Rational>& target, const ExactTable<Rational>& draft,
                                  std::size_t gamma) {
  std::vector<RankedPath> paths{{}};
  std::vector<Rational> a;
  std::vector<Rational> b;
  for (std::size_t i = 0; i < gamma; ++i) {
    std::vector<RankedPath> longer;
    for (const RankedPath& path : paths) {
      const auto p = target.next(path.tokens, a);
      const auto q = draft.next(path.tokens, b);
      const std::vector<Token> order = by_ratio(p, q);
      for (std::size_t rank = 0; rank < order.size(); ++rank) {
        if (!(q[order[rank]] > 0)) continue;
        longer.push_back(path);
        longer.back().tokens.push_back(order[rank]);
        longer.back().rank.push_back(rank);
        longer.back().probability *= q[order[rank]];
      }
    }
    paths = std::move(longer);
  }
  return paths;
}

Losslessness<Rational> enumerated(const ExactTable<Rational>& target, const ExactTable<Rational>& draft,
                                  const EnumerableRule& rule, std::int32_t gamma) {
  return examine<Rational>(ModelRef<Rational>(target), ModelRef<Rational>(draft), rule, gamma, {});
}

}  // namespace

TEST_CASE("the selected path has the distribution that it is verified with") {
  GbvGenerator generator(2);
  constexpr std::size_t gamma = 2;
  for (int instance = 0; instance < 12; ++instance) {
    CAPTURE(instance);
    const auto target = chain_with_zeros(3, generator);
    const auto draft = chain_with_zeros(3, generator);
    const std::vector<RankedPath> paths = all_paths(target, draft, gamma);
    const std::size_t drafts = 2 + static_cast<std::size_t>(instance % 2);
    // Finds the highest of `drafts` i.i.d. paths, over all tuples of paths.
    std::vector<Rational> selected(paths.size(), Rational(0));
    std::vector<std::size_t> tuple(drafts, 0);
    for (bool more = true; more;) {
      Rational probability(1);
      std::size_t highest = tuple.front();
      for (const std::size_t path : tuple) {
        probability *= paths[path].probability;
        if (paths[highest].rank < paths[path].rank) highest = path;
      }
      selected[highest] += probability;
      std::size_t at = 0;
      while (at < drafts && ++tuple[at] == paths.size()) tuple[at++] = 0;
      more = at < drafts;
    }
    for (std::size_t path = 0; path < paths.size(); ++path) {
      PathRanking<Rational> ranking(static_cast<std::int32_t>(drafts));
      Rational product(1);
      std::vector<Token> context;
      std::vector<Rational> a;
      std::vector<Rational> b;
      for (const Token token : paths[path].tokens) {
        const std::vector<Token> candidates{token};
        const auto step = ranking.step(candidates, target.next(context, a), draft.next(context, b));
        REQUIRE(step.token == token);
        product *= step.distribution[token];
        context.push_back(token);
      }
      CHECK(product == selected[path]);
    }
  }
}

TEST_CASE("greedy block verification is lossless, at most optimal, and with one path block verification") {
  GbvGenerator generator(4);
  Rational one_path(0);
  Rational two_paths(0);
  for (int instance = 0; instance < 24; ++instance) {
    CAPTURE(instance);
    const std::int32_t gamma = 1 + instance % 2;
    const auto target = chain_with_zeros(2 + instance % 2, generator);
    const auto draft = chain_with_zeros(2 + instance % 2, generator);
    const auto block = enumerated(target, draft, BlockRule{}, gamma);
    const auto alone = enumerated(target, draft, GbvRule{1}, gamma);
    CHECK(alone.distance == 0);
    CHECK(alone.expected_emitted == block.expected_emitted);
    CHECK(alone.accepted == block.accepted);
    const auto pair = enumerated(target, draft, GbvRule{2}, gamma);
    CHECK(pair.distance == 0);
    const Optimum best =
        optimum(ModelRef<Rational>(target), ModelRef<Rational>(draft), gamma, Drafting{.paths = 2}, {});
    REQUIRE(best.proved);
    CHECK(pair.expected_emitted <= *best.proved);
    one_path += alone.expected_emitted;
    two_paths += pair.expected_emitted;
  }
  CHECK(two_paths > one_path);
}

TEST_CASE("with equal rows a second path costs tokens: the selection is skewed where nothing was wrong") {
  const ExactTable<Rational> fair({{Rational(1, 2), Rational(1, 2)}});
  CHECK(enumerated(fair, fair, GbvRule{1}, 2).expected_emitted == 3);
  const auto pair = enumerated(fair, fair, GbvRule{2}, 2);
  CHECK(pair.distance == 0);
  CHECK(pair.expected_emitted < 3);
}

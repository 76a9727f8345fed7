#include "analysis/exact/optimum.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "analysis/exact/enumeration_program.hpp"
#include "analysis/exact/losslessness.hpp"
#include "analysis/theory/optimal_acceptance.hpp"
#include "core/distribution/ratio_order.hpp"
#include "core/rules/block.hpp"
#include "core/rules/faults.hpp"
#include "core/rules/k_seq.hpp"
#include "core/rules/recursive.hpp"
#include "core/rules/token.hpp"
#include "core/rules/traversal.hpp"
#include "core/rules/tree.hpp"

using namespace speclab;

namespace {

using Generator = std::mt19937;

/// Returns a row of weights below 10, some of them 0.
std::vector<Rational> row_of(std::int32_t vocab, Generator& generator) {
  std::vector<std::int64_t> weights;
  std::int64_t sum = 0;
  while (sum == 0) {
    weights.clear();
    for (std::int32_t id = 0; id < vocab; ++id) {
      weights.push_back(static_cast<std::int64_t>(generator() % 10));
      sum += weights.back();
    }
  }
  std::vector<Rational> row;
  for (const std::int64_t weight : weights) row.emplace_back(weight, sum);
  return row;
}

/// Returns a model with a row for each last token.
ExactTable<Rational> model_of(std::int32_t vocab, Generator& generator) {
  std::vector<std::vector<Rational>> rows;
  for (std::int32_t last = 0; last < vocab; ++last) rows.push_back(row_of(vocab, generator));
  return ExactTable<Rational>(std::move(rows));
}

struct Pair {
  ExactTable<Rational> target, draft;
  Optimum best(std::int32_t gamma, std::int32_t paths) const { return best(gamma, Drafting{.paths = paths}); }
  Optimum best(std::int32_t gamma, const Drafting& drafting) const {
    return optimum(ModelRef<Rational>(target), ModelRef<Rational>(draft), gamma, drafting, {});
  }
  Losslessness<Rational> by(const EnumerableRule& rule, std::int32_t gamma) const {
    return examine<Rational>(ModelRef<Rational>(target), ModelRef<Rational>(draft), rule, gamma, {});
  }
};

Pair pair_of(std::int32_t vocab, Generator& generator) {
  ExactTable<Rational> target = model_of(vocab, generator);
  return {std::move(target), model_of(vocab, generator)};
}

}  // namespace

TEST_CASE("block verification emits the most of any lossless scheme with one path") {
  Generator generator(1);
  int beyond_token = 0;
  for (int instance = 0; instance < 60; ++instance) {
    const std::int32_t vocab = 2 + instance % 4;
    const std::int32_t gamma = 1 + instance % 3;
    CAPTURE(instance);
    const Pair pair = pair_of(vocab, generator);
    const Optimum best = pair.best(gamma, 1);
    REQUIRE(best.proved);
    CHECK(best.proved->str() == pair.by(BlockRule{}, gamma).expected_emitted.str());
    CHECK(best.expected_emitted == doctest::Approx(static_cast<double>(*best.proved)).epsilon(1e-9));
    CHECK(best.upper_bound >= *best.proved);
    CHECK(static_cast<double>(best.upper_bound - *best.proved) < 1e-9);
    const Rational by_token = pair.by(TokenRule{}, gamma).expected_emitted;
    CHECK(by_token <= *best.proved);
    beyond_token += by_token < *best.proved ? 1 : 0;
    if (gamma == 1) CHECK(by_token == *best.proved);
  }
  CHECK(beyond_token > 20);
}

TEST_CASE("with one token of several paths the optimum is that of optimal transport") {
  Generator generator(2);
  int beyond = 0;
  for (int instance = 0; instance < 40; ++instance) {
    const std::int32_t paths = 1 + instance % 3;
    CAPTURE(instance);
    const Pair pair = pair_of(2 + instance % 4, generator);
    const Optimum best = pair.best(1, paths);
    REQUIRE(best.proved);
    std::vector<Rational> scratch;
    const Rational bound =
        optimal_transport_acceptance(pair.target.next({}, scratch), pair.draft.next({}, scratch), paths);
    CHECK(best.proved->str() == (Rational(1) + bound).str());
    const Rational emitted = pair.by(RecursiveRule(paths), 1).expected_emitted;
    CHECK(emitted <= *best.proved);
    beyond += emitted < *best.proved ? 1 : 0;
  }
  CHECK(beyond > 5);
}

TEST_CASE("lossless rules for several paths stay below the optimum, and a lossy one does not") {
  Generator generator(3);
  int below = 0;
  for (int instance = 0; instance < 12; ++instance) {
    CAPTURE(instance);
    const std::int32_t paths = 2 + instance % 2;
    const Pair pair = pair_of(2 + instance % 2, generator);
    const Optimum best = pair.best(2, paths);
    REQUIRE(best.proved);
    CHECK(*best.proved >= *pair.best(2, 1).proved);
    for (const EnumerableRule& rule :
         {EnumerableRule(RecursiveRule(paths)), EnumerableRule(KSeqRule(paths))}) {
      const Losslessness<Rational> found = pair.by(rule, 2);
      CHECK(found.lossless());
      CHECK(found.expected_emitted <= *best.proved);
      below += found.expected_emitted < *best.proved ? 1 : 0;
    }
  }
  CHECK(below > 10);

  const ExactTable<Rational> target({{Rational(1, 2), Rational(1, 2)}});
  const ExactTable<Rational> draft({{Rational(1, 4), Rational(3, 4)}});
  const Pair pair{target, draft};
  const Losslessness<Rational> lossy = pair.by(AcceptAllFault{}, 2);
  CHECK_FALSE(lossy.lossless());
  CHECK(lossy.expected_emitted > *pair.best(2, 1).proved);
}

TEST_CASE("a tree of one chain is one path, and trees of several nodes have their own optimum") {
  Generator generator(4);
  int below = 0;
  for (int instance = 0; instance < 12; ++instance) {
    CAPTURE(instance);
    const Pair pair = pair_of(2 + instance % 2, generator);
    const auto of_tree = [&](const std::vector<std::int32_t>& branching) {
      const auto shape = std::make_shared<const DraftTree>(branching_tree(branching));
      const Optimum best = pair.best(2, Drafting{.tree = shape});
      REQUIRE(best.proved);
      return *best.proved;
    };
    CHECK(of_tree({1, 1}).str() == pair.best(2, 1).proved->str());
    for (const std::vector<std::int32_t>& branching : {std::vector<std::int32_t>{2}, {2, 1}, {1, 2}}) {
      const Rational best = of_tree(branching);
      for (const EnumerableRule& rule : {EnumerableRule(TreeRule(branching_tree(branching))),
                                         EnumerableRule(TraversalRule(branching_tree(branching)))}) {
        const Losslessness<Rational> found = pair.by(rule, 2);
        CHECK(found.lossless());
        CHECK(found.expected_emitted <= best);
        below += found.expected_emitted < best ? 1 : 0;
      }
    }
    // With one level the optimum is the bound of siblings without replacement, found by another search.
    std::vector<Rational> scratch, other;
    const Rational bound =
        optimal_acceptance_without_replacement(pair.target.next({}, scratch), pair.draft.next({}, other), 2);
    CHECK(of_tree({2}).str() == (Rational(1) + bound).str());
  }
  CHECK(below > 5);
}

TEST_CASE("rows of long fractions, disjoint rows and equal rows") {
  std::vector<Rational> row;
  for (const double weight : {0.12345678901234567, 0.3, 0.57654321098765433}) row.emplace_back(weight);
  Rational sum;
  for (const Rational& weight : row) sum += weight;
  for (Rational& weight : row) weight /= sum;
  const Pair close{ExactTable<Rational>({row}), ExactTable<Rational>({{row[2], row[0], row[1]}})};
  const Optimum best = close.best(3, 1);
  REQUIRE(best.proved);
  CHECK(best.proved->str() == close.by(BlockRule{}, 3).expected_emitted.str());

  const Rational one(1), none(0);
  const Pair disjoint{ExactTable<Rational>({{one, none}}), ExactTable<Rational>({{none, one}})};
  CHECK(disjoint.best(3, 2).proved->str() == "1");
  const Pair equal{ExactTable<Rational>({row}), ExactTable<Rational>({row})};
  CHECK(equal.best(3, 1).proved->str() == "4");
}

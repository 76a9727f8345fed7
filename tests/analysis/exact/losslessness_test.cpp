// Exact tests in fractions: two examples with known values, inequalities that hold for every rule, and
// identities between rules.
#include "analysis/exact/losslessness.hpp"
#include "analysis/exact/rational.hpp"

#include "analysis/exact/enumeration_program.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "analysis/theory/optimal_acceptance.hpp"
#include "tests/core/rules/all_rules.hpp"
#include "tests/core/rules/k_seq_acceptance.hpp"

using namespace speclab;

namespace {

using Q = Rational;
using Rows = std::vector<std::vector<Q>>;

Q abs(const Q& value) { return value < 0 ? -value : value; }

const Rows golden_target{{Q(1, 2), Q(3, 10), Q(1, 5)}};
const Rows golden_draft{{Q(1, 10), Q(3, 10), Q(3, 5)}};
const Rows toy_target{{Q(1, 3), Q(2, 3)}};
const Rows toy_draft{{Q(2, 3), Q(1, 3)}};
const Rows chain_target{{Q(1, 3), Q(2, 3), Q(0)}, {Q(1, 4), Q(1, 4), Q(1, 2)}, {Q(0), Q(1, 5), Q(4, 5)}};
const Rows chain_draft{{Q(3, 5), Q(1, 5), Q(1, 5)}, {Q(1, 2), Q(1, 2), Q(0)}, {Q(1, 3), Q(1, 3), Q(1, 3)}};

template <class Rule>
Losslessness<Q> examined(const Rule& rule, const Rows& target, const Rows& draft, int gamma = 1) {
  return examine<Q>(ExactTable<Q>(target), ExactTable<Q>(draft), rule, gamma, std::span<const Token>{});
}

template <class Rule>
void check_golden(const Rule& rule, const Q& acceptance, const Q& distance = 0) {
  const auto found = examined(rule, golden_target, golden_draft);
  CHECK(found.acceptance() == acceptance);
  CHECK(found.distance == distance);
  CHECK(found.counterexample.has_value() == (distance != 0));
  CHECK(found.expected_emitted == found.expected_accepted + 1);
  CHECK(found.rejection == 1 - acceptance);
}

/// Returns TV(out, p) + P(reject) - TV(p, q), which is at least 0 for every rule of one draft, at gamma = 1:
/// if nothing is rejected the output is the draft's.
template <class Rule>
Q margin(const Rule& rule, const Rows& target, const Rows& draft) {
  const auto found = examined(rule, target, draft);
  Q apart(0);
  for (std::size_t id = 0; id < target.front().size(); ++id) {
    apart += abs(target.front()[id] - draft.front()[id]) / 2;
  }
  return found.distance + found.rejection - apart;
}

}  // namespace

TEST_CASE("golden vector, one draft") {
  check_golden(TokenRule{}, Q(3, 5));
  check_golden(MatchRule{}, Q(13, 50));
  check_golden(GumbelRule{}, Q(18, 35));
  check_golden(RejectionRule{}, Q(1, 5));
  check_golden(BlockRule{}, Q(3, 5));
  check_golden(LenienceRule{0.5, Residual::target_minus_draft}, Q(4, 5), Q(1, 5));
  check_golden(LenienceRule{0.5, Residual::literal}, Q(4, 5), Q(1, 4));
  check_golden(LenienceRule{0.5, Residual::target}, Q(4, 5), Q(3, 10));
}

TEST_CASE("golden vector, several drafts") {
  check_golden(RecursiveRule(2), Q(16, 25));
  check_golden(RecursiveRule(3), Q(169, 250));
  check_golden(TreeRule(branching_tree({2})), Q(7, 10));
  check_golden(TreeRule(branching_tree({3})), Q(1));
  check_golden(TraversalRule(branching_tree({2})), Q(7, 10));
  check_golden(ImportanceRule(2), Q(69, 100));
  check_golden(ImportanceRule(3), Q(771, 1000));
  const BasicRow<Q> p{golden_target[0].data(), 3};
  const BasicRow<Q> q{golden_draft[0].data(), 3};
  CHECK(optimal_transport_acceptance(p, q, 2) == Q(69, 100));
  CHECK(optimal_transport_acceptance(p, q, 3) == Q(771, 1000));
  check_golden(KSeqRule(2), k_seq_acceptance(p, q, 2));
}

TEST_CASE("the optimum without replacement: golden values, never below what the rule reaches") {
  const BasicRow<Q> p{golden_target[0].data(), 3};
  const BasicRow<Q> q{golden_draft[0].data(), 3};
  CHECK(optimal_acceptance_without_replacement(p, q, 1) == Q(3, 5));
  CHECK(optimal_acceptance_without_replacement(p, q, 2) >= Q(7, 10));
  CHECK(optimal_acceptance_without_replacement(p, q, 3) == 1);
  const std::vector<Token> two{2, 1};
  CHECK(optimal_acceptance_fixed(p, std::span<const Token>(two)) == Q(1, 2));
}

TEST_CASE("the optimum for i.i.d. drafts, searched over all sets and by the ratio order") {
  for (const auto& [target, draft] : {std::pair{golden_target[0], golden_draft[0]},
                                      {chain_target[0], chain_draft[0]},
                                      {chain_target[1], chain_draft[1]},
                                      {chain_target[2], chain_draft[2]}}) {
    const BasicRow<Q> p{target.data(), 3};
    const BasicRow<Q> q{draft.data(), 3};
    for (const int drafts : {1, 2, 4}) {
      const Q searched = detail::min_over_sets(p, [&](std::uint32_t set) {
        Q inside(0);
        for (Token id = 0; id < 3; ++id) {
          if ((set >> id & 1U) != 0) inside += q[id];
        }
        Q power(1);
        for (int i = 0; i < drafts; ++i) power *= inside;
        return power;
      });
      CHECK(searched == optimal_transport_acceptance(p, q, drafts));
    }
  }
}

TEST_CASE("block toy: 10/9 by token, 11/9 by block") {
  CHECK(examined(TokenRule{}, toy_target, toy_draft, 2).expected_accepted == Q(10, 9));
  CHECK(examined(BlockRule{}, toy_target, toy_draft, 2).expected_accepted == Q(11, 9));
  CHECK(examined(BlockRule{}, toy_target, toy_draft, 2).distance == 0);
}

TEST_CASE("block verification never keeps fewer tokens than token verification, and is lossless on chains") {
  for (const int gamma : {1, 2, 3}) {
    const auto token = examined(TokenRule{}, chain_target, chain_draft, gamma);
    const auto block = examined(BlockRule{}, chain_target, chain_draft, gamma);
    CHECK(token.distance == 0);
    CHECK(block.distance == 0);
    CHECK(block.expected_accepted >= token.expected_accepted);
    if (gamma > 1) CHECK(block.expected_accepted > token.expected_accepted);
  }
}

TEST_CASE("traversal of a chain is block verification; a tree of one child each is token verification") {
  const auto chain = branching_tree({1, 1, 1});
  CHECK(examined(TraversalRule(chain), chain_target, chain_draft, 3).accepted ==
        examined(BlockRule{}, chain_target, chain_draft, 3).accepted);
  CHECK(examined(TreeRule(chain), chain_target, chain_draft, 3).accepted ==
        examined(TokenRule{}, chain_target, chain_draft, 3).accepted);
  for (const auto& accepted : {examined(RecursiveRule(1), chain_target, chain_draft, 2).accepted,
                               examined(KSeqRule(1), chain_target, chain_draft, 2).accepted,
                               examined(ImportanceRule(1), chain_target, chain_draft, 2).accepted}) {
    CHECK(accepted == examined(TokenRule{}, chain_target, chain_draft, 2).accepted);
  }
}

TEST_CASE("trees are lossless on chains whose rows have zeros, and traversal is not below recursion") {
  const auto tree = branching_tree({2, 2});
  const auto recursion = examined(TreeRule(tree), chain_target, chain_draft, 2);
  const auto traversal = examined(TraversalRule(tree), chain_target, chain_draft, 2);
  CHECK(recursion.distance == 0);
  CHECK(traversal.distance == 0);
  CHECK(traversal.expected_accepted >= recursion.expected_accepted);
  CHECK(examined(GrownTreeRule(2, 3), chain_target, chain_draft, 2).distance == 0);
  CHECK(examined(RecursiveRule(2), chain_target, chain_draft, 2).distance == 0);
  CHECK(examined(KSeqRule(2), chain_target, chain_draft, 2).distance == 0);
}

TEST_CASE("TV(out, p) + P(reject) >= TV(p, q), with equality for lenience with target - draft") {
  for (const auto& [target, draft] : {std::pair{golden_target, golden_draft},
                                      {toy_target, toy_draft},
                                      {Rows{chain_target[2]}, Rows{chain_draft[2]}}}) {
    CHECK(margin(TokenRule{}, target, draft) == 0);
    CHECK(margin(MatchRule{}, target, draft) >= 0);
    CHECK(margin(GumbelRule{}, target, draft) >= 0);
    CHECK(margin(RejectionRule{}, target, draft) >= 0);
    CHECK(margin(GreedyRule{}, target, draft) >= 0);
    CHECK(margin(TypicalRule{}, target, draft) >= 0);
    CHECK(margin(CascadeRule{0.3}, target, draft) >= 0);
    for (const double l : {0.1, 0.5, 0.9, 1.0}) {
      CHECK(margin(LenienceRule{l, Residual::target_minus_draft}, target, draft) == 0);
      CHECK(margin(LenienceRule{l, Residual::literal}, target, draft) >= 0);
      CHECK(margin(LenienceRule{l, Residual::target}, target, draft) >= 0);
    }
  }
}

TEST_CASE("lenience: the first two residuals keep the output below p / l, the third does not") {
  const auto largest = [](Residual residual) {
    const auto found = examined(LenienceRule{0.5, residual}, golden_target, golden_draft);
    std::vector<Q> first(3);
    for (const auto& [tokens, probability] : found.distribution)
      first[static_cast<std::size_t>(tokens[0])] += probability;
    Q most(0);
    for (std::size_t id = 0; id < 3; ++id) most = std::max(most, Q(first[id] / golden_target[0][id]));
    return most;
  };
  CHECK(largest(Residual::target_minus_draft) <= 2);
  CHECK(largest(Residual::literal) <= 2);
  CHECK(largest(Residual::target) > 2);
}

TEST_CASE("speculative cascade: the first token has the cascade's own distribution") {
  const CascadeRule rule{0.3};
  const auto found = examined(rule, golden_target, golden_draft);
  const auto& p = golden_target[0];
  const auto& q = golden_draft[0];
  // pi(x) = q(x) [x in A] + eta p(x), with A the ids of p(x) >= 7/10 max p and eta = q(not in A).
  const Q bar = Q(7, 10) * *std::max_element(p.begin(), p.end());
  Q eta(0);
  for (std::size_t id = 0; id < 3; ++id) eta += p[id] < bar ? q[id] : Q(0);
  std::vector<Q> first(3);
  for (const auto& [tokens, probability] : found.distribution)
    first[static_cast<std::size_t>(tokens[0])] += probability;
  for (std::size_t id = 0; id < 3; ++id) CHECK(first[id] == Q((p[id] >= bar ? q[id] : Q(0)) + eta * p[id]));
  CHECK(found.distance > 0);
}

TEST_CASE("greedy: lossless for points, whatever the draft, and not otherwise") {
  const Rows points{{Q(0), Q(1), Q(0)}, {Q(0), Q(0), Q(1)}, {Q(1), Q(0), Q(0)}};
  CHECK(examined(GreedyRule{}, points, chain_draft, 3).distance == 0);
  CHECK(examined(GreedyRule{}, chain_target, chain_draft, 1).distance > 0);
}

TEST_CASE("the counterexample is the sequence with the largest error") {
  const auto found = examined(LenienceRule{0.5, Residual::target_minus_draft}, golden_target, golden_draft);
  Q largest(0);
  for (const auto& [tokens, probability] : found.target_distribution) {
    const auto other = found.distribution.find(tokens);
    largest =
        std::max(largest, Q(abs(probability - (other == found.distribution.end() ? Q(0) : other->second))));
  }
  const auto& tokens = *found.counterexample;
  CHECK(abs(found.distribution.at(tokens) - found.target_distribution.at(tokens)) == largest);
}

namespace {

/// Makes the acceptance draw and the correction's at the given addresses.
struct AddressedRule : BonusFromTarget {
  Draw accept;
  Draw replace;
};

template <std::same_as<AddressedRule> Rule, class Targets, class Drafts, class Random>
Verdict verify(const Rule& rule, const Targets& targets, const Drafts& drafts, const Token* drafted,
               std::int32_t gamma, Random& random) {
  for (std::int32_t i = 0; i < gamma; ++i) {
    const auto target = targets(i);
    const auto draft = drafts(i);
    if (random.bernoulli(rule.accept, TokenRule{}.acceptance(drafted[i], target, draft))) continue;
    return {i, i + 1, categorical_or(random, rule.replace, TokenRule{}.replacement(target, draft), target)};
  }
  return all_accepted(rule, targets, gamma, random);
}

}  // namespace

TEST_CASE("a rule that draws twice at one address, or at one of the draft's, is refused with the address") {
  const auto examined = [](Draw accept, Draw replace, std::int32_t gamma) {
    const ExactTable<Q> target(std::vector<std::vector<Q>>{{Q(1, 2), Q(3, 10), Q(1, 5)}});
    const ExactTable<Q> draft(std::vector<std::vector<Q>>{{Q(1, 5), Q(1, 5), Q(3, 5)}});
    const AddressedRule rule{{}, accept, replace};
    return examine<Q>(target, draft, rule, gamma, std::span<const Token>{}).distance;
  };
  constexpr Draw accept{Use::accept, 0};
  constexpr Draw replace{Use::replace, 0};
  CHECK(examined(accept, replace, 1) == 0);
  CHECK_THROWS_WITH_AS(examined(accept, accept, 1), doctest::Contains("Draw{Use::accept, 0, 0}"),
                       std::invalid_argument);
  CHECK_THROWS_WITH_AS(examined({Use::draft, 0}, replace, 1), doctest::Contains("Draw{Use::draft, 0, 0}"),
                       std::invalid_argument);
}

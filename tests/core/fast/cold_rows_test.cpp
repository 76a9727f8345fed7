// Rows as low temperatures make them, with ties, zeros and the smallest numbers that a double holds. Tests
// every rule, and every program of core/fast, in double against the rule in fractions on the same rows.
#include <doctest/doctest.h>

#include <algorithm>
#include <boost/multiprecision/cpp_int.hpp>
#include <cmath>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "core/fast/fast_transport.hpp"
#include "core/random/enumerated_random_source.hpp"
#include "tests/core/fast/cold_rows.hpp"
#include "tests/core/fast/fast_round.hpp"
#include "tests/core/fast/whole_row_round.hpp"
#include "tests/core/rules/all_rules.hpp"

using namespace speclab;

namespace {

using ColdFraction = boost::multiprecision::cpp_rational;

/// The rows by the last token.
template <class Real>
struct ColdChain {
  std::vector<std::vector<Real>> rows;

  explicit ColdChain(const std::vector<std::vector<double>>& of) {
    for (const auto& row : of) rows.emplace_back(row.begin(), row.end());
  }
  std::int32_t vocab() const { return static_cast<std::int32_t>(rows.size()); }
  BasicRow<Real> next(std::span<const Token> context, std::vector<Real>&) const {
    return {rows[static_cast<std::size_t>(context.empty() ? 0 : context.back())].data(), vocab()};
  }
};

/// The probabilities of each emitted sequence with its number of accepted tokens.
using ColdLaw = std::map<std::pair<std::vector<Token>, std::int32_t>, double>;

/// A round of some rule. The enumerator is compiled once for all rules.
template <class Real>
using ColdRound = std::function<Round(std::vector<Token>&, EnumeratedRandomSource<Real>&)>;

template <class Real>
ColdLaw cold_law(const ColdRound<Real>& play) {
  std::map<std::pair<std::vector<Token>, std::int32_t>, Real> found;
  enumerate<Real>(
      [&](EnumeratedRandomSource<Real>& random) {
        std::vector<Token> context;
        const Round round = play(context, random);
        return std::pair{context, round.accepted};
      },
      [&](const auto& emitted, const Real& weight) { found[emitted] += weight; });
  ColdLaw law;
  for (const auto& [emitted, weight] : found) law[emitted] = static_cast<double>(weight);
  return law;
}

template <class Real, class Rule>
ColdLaw law_of_rule(const ColdChain<Real>& target, const ColdChain<Real>& draft, const Rule& rule,
                    std::int32_t gamma) {
  return cold_law<Real>([&](std::vector<Token>& context, auto& random) {
    RoundScratch<Real> scratch;
    return speculative_round(target, draft, rule, gamma, context, random, scratch, NoWatch{});
  });
}

/// Returns the largest difference of two probabilities.
double largest_difference(const ColdLaw& one, const ColdLaw& other) {
  double largest = 0;
  for (const auto& [a, b] : {std::pair{&one, &other}, {&other, &one}}) {
    for (const auto& [emitted, weight] : *a) {
      const auto found = b->find(emitted);
      largest = std::max(largest, std::abs(weight - (found == b->end() ? 0 : found->second)));
    }
  }
  return largest;
}

struct ColdDifferences {
  double rule = 0;     ///< error of the rule in double
  double program = 0;  ///< error of its fast program
};

template <class Rule>
ColdDifferences cold_differences(const Rule& rule, std::uint64_t seed, std::int32_t gamma, int pairs) {
  Philox stream(seed, Site{0, 0, Draw{Use::world, 0}});
  ColdDifferences largest;
  for (int pair = 0; pair < pairs; ++pair) {
    const ColdRows p = cold_rows(stream, 3, 3);
    const ColdRows q = cold_rows(stream, 3, 3);
    const ColdChain<double> target(p);
    const ColdChain<double> draft(q);
    const ColdLaw exact = law_of_rule(ColdChain<ColdFraction>(p), ColdChain<ColdFraction>(q), rule, gamma);
    largest.rule = std::max(largest.rule, largest_difference(exact, law_of_rule(target, draft, rule, gamma)));
    if constexpr (WholeRowRule<Rule>) {
      if (drafted_shape(rule, gamma).distinct && smallest_of(q) < min_divisible) continue;
      for (const std::uint32_t proposals : {0U, 2U}) {
        const ColdLaw fast = cold_law<double>([&](std::vector<Token>& context, auto& random) {
          return whole_row_round<double>(target, draft, rule, gamma, proposals, context, random);
        });
        largest.program = std::max(largest.program, largest_difference(exact, fast));
      }
    }
    if constexpr (AcceptanceRule<Rule>) {
      for (const std::uint32_t proposals : {0U, 2U}) {
        const ColdLaw fast = cold_law<double>([&](std::vector<Token>& context, auto& random) {
          RoundScratch<double> scratch;
          return fast_round(target, draft, rule, gamma, proposals, context, random, scratch);
        });
        largest.program = std::max(largest.program, largest_difference(exact, fast));
      }
    }
  }
  return largest;
}

void check_cold_differences(const ColdDifferences& found, std::uint64_t seed) {
  CAPTURE(seed);
  CHECK(found.rule < 1e-12);
  CHECK(found.program < 1e-12);
}

template <class Rule>
void check_cold(const Rule& rule, std::uint64_t seed, std::int32_t gamma, int pairs) {
  check_cold_differences(cold_differences(rule, seed, gamma, pairs), seed);
}

}  // namespace

TEST_CASE("on cold rows rules for one draft, and their fast programs, emit what they do in fractions") {
  check_cold(TokenRule{}, 1, 2, 50);
  check_cold(BlockRule{}, 2, 2, 50);
  check_cold(BlockRule{}, 3, 3, 6);
  check_cold(HsdRule{}, 4, 2, 33);
  check_cold(FlyRule(0.3, 1), 25, 2, 20);
  check_cold(ScheduledRule(0.5, true), 5, 2, 20);
  check_cold(ScheduledRule(0.5, false), 6, 2, 20);
  check_cold(GumbelRule{}, 7, 2, 50);
  for (const Residual residual : {Residual::target_minus_draft, Residual::literal, Residual::target})
    check_cold(LenienceRule(0.5, residual), 8, 2, 20);
  check_cold(MatchRule{}, 9, 2, 20);
  check_cold(RejectionRule{}, 10, 2, 33);
  check_cold(EnsembleRule{}, 11, 2, 20);
  check_cold(TolerantRule(0.1, 0.5), 12, 2, 20);
  check_cold(CascadeRule(0.37), 13, 2, 33);
}

TEST_CASE("on cold rows rules by thresholds emit what they do in fractions") {
  check_cold(TypicalRule(0.37, 0.9), 14, 2, 20);
  check_cold(FuzzyRule{}, 15, 2, 20);
  check_cold(FuzzyRule(Nearness::kl, 0.37), 16, 2, 20);
  check_cold(FuzzyRule(Nearness::tv, 0.37), 17, 2, 20);
  check_cold(DeferralRule{}, 18, 2, 20);
  check_cold(DeferralRule(Deferral::chow, 0.53), 19, 2, 20);
  check_cold(GreedyRule{}, 20, 2, 10);
  check_cold(GreedyLenienceRule{0.37}, 21, 2, 10);
  check_cold(MarsRule{}, 22, 2, 20);
  check_cold(BildRule(0.6, 1), 23, 2, 20);
  check_cold(SigmoidRule(-20, 5), 24, 2, 20);
}

TEST_CASE("on cold rows rules for several drafts emit what they do in fractions") {
  check_cold(RecursiveRule(2), 31, 1, 33);
  check_cold(RecursiveRule(3), 32, 1, 10);
  check_cold(RecursiveRule(2), 33, 2, 4);
  check_cold(KSeqRule(2), 34, 1, 33);
  check_cold(KSeqRule(3), 35, 1, 10);
  // If several choices accept equally often, rounding can make the rule accept other tokens than in
  // fractions; it does not in these pairs.
  check_cold(ImportanceRule(2), 36, 1, 20);
  check_cold(GbvRule(2), 37, 1, 20);
  check_cold(GrownTreeRule(2, 4), 38, 2, 10);
}

TEST_CASE(
    "on cold rows rules for siblings without replacement emit what they do in fractions, even if the first has nearly all") {
  for (const std::vector<std::int32_t>& branching : {std::vector<std::int32_t>{2}, {3}}) {
    const DraftTree tree = branching_tree(branching);
    check_cold(TreeRule(tree), 41, 1, 33);
    check_cold(TraversalRule(tree), 42, 1, 33);
  }
  const DraftTree deeper = branching_tree({2, 1});
  check_cold(TreeRule(deeper), 43, 2, 4);
  check_cold(TraversalRule(deeper), 44, 2, 4);
}

TEST_CASE("another rule is told apart on cold rows") {
  CHECK(cold_differences(TreeRule(branching_tree({2})), 41, 1, 20).rule < 1e-12);
  Philox stream(51, Site{0, 0, Draw{Use::world, 0}});
  double largest = 0;
  for (int pair = 0; pair < 20; ++pair) {
    const ColdRows p = cold_rows(stream, 3, 3);
    const ColdRows q = cold_rows(stream, 3, 3);
    largest = std::max(
        largest,
        largest_difference(law_of_rule(ColdChain<double>(p), ColdChain<double>(q), BlockRule{}, 2),
                           law_of_rule(ColdChain<double>(p), ColdChain<double>(q), BlockPrefixFault{}, 2)));
  }
  CHECK(largest > 1e-3);
}

TEST_CASE("cold rows are put in the order of their ratios alike by comparisons and by bits") {
  Philox stream(54, Site{0, 0, Draw{Use::world, 0}});
  for (int pair = 0; pair < 300; ++pair) {
    const ColdRows rows = cold_rows(stream, 9, 2);
    const Row p{rows[0].data(), 9};
    const Row q{rows[1].data(), 9};
    CHECK(radix_by_ratio(p, q) == by_ratio(p, q));
  }
}

TEST_CASE("the transport bound of cold rows without sorting is that of sorted ones") {
  Philox stream(52, Site{0, 0, Draw{Use::world, 0}});
  for (int pair = 0; pair < 300; ++pair) {
    const ColdRows rows = cold_rows(stream, 6, 2);
    const Row p{rows[0].data(), 6};
    const Row q{rows[1].data(), 6};
    for (const std::int32_t drafts : {1, 2, 5}) {
      CHECK(std::abs(fast_transport_acceptance(p, q, drafts) - optimal_transport_acceptance(p, q, drafts)) <
            1e-12);
    }
  }
}

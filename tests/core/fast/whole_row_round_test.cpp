#include "tests/core/fast/whole_row_round.hpp"

#include <doctest/doctest.h>

#include <boost/multiprecision/cpp_int.hpp>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "core/random/enumerated_random_source.hpp"
#include "tests/core/fast/own_rules.hpp"
#include "tests/core/rules/all_rules.hpp"

using namespace speclab;

// A rule derived from another may differ anywhere.
static_assert(!WholeRowRule<BlockPrefixFault> && !WholeRowRule<StaleSiblingsFault>);
static_assert(!WholeRowRule<GrownTreeRule> && !WholeRowRule<ImportanceRule> && !WholeRowRule<SigmoidRule>);
static_assert(WholeRowRule<HalvingRule> && !WholeRowRule<ResampleTargetFault> &&
              !WholeRowRule<UnthinnedRule> && !WholeRowRule<OwnBonusRule>);

namespace {

using Rational = boost::multiprecision::cpp_rational;
using Emitted = std::pair<std::vector<Token>, std::int32_t>;  // emitted tokens and how many were accepted

/// Rows by the last token, of small whole numbers so that zeros, ties and equal rows occur.
struct SmallChain {
  std::vector<std::vector<Rational>> rows;

  SmallChain(Philox& stream, std::size_t vocab) {
    for (std::size_t r = 0; r < vocab; ++r) {
      std::vector<int> counts(vocab);
      int total = 0;
      for (int& count : counts) total += count = static_cast<int>(stream() % 4);
      if (total == 0) total = counts[stream() % vocab] = 1;
      auto& row = rows.emplace_back();
      for (const int count : counts) row.push_back(Rational(count) / Rational(total));
    }
  }
  std::int32_t vocab() const { return static_cast<std::int32_t>(rows.size()); }
  BasicRow<Rational> next(std::span<const Token> context, std::vector<Rational>&) const {
    return {rows[static_cast<std::size_t>(context.empty() ? 0 : context.back())].data(), vocab()};
  }
};

/// Returns the joint distribution of the emitted tokens and the number accepted in one round, in exact
/// arithmetic.
std::map<Emitted, Rational> emitted_by(
    const std::function<Round(std::vector<Token>&, EnumeratedRandomSource<Rational>&)>& play) {
  std::map<Emitted, Rational> found;
  const auto program = [&](EnumeratedRandomSource<Rational>& random) {
    std::vector<Token> context;
    const Round round = play(context, random);
    return Emitted{context, round.accepted};
  };
  enumerate<Rational>(program,
                      [&](const Emitted& emitted, const Rational& weight) { found[emitted] += weight; });
  return found;
}

using SmallLaw = std::map<Emitted, Rational>;

template <class Rule>
SmallLaw small_law(const Rule& rule, const SmallChain& target, const SmallChain& draft, std::int32_t gamma) {
  return emitted_by([&](std::vector<Token>& context, auto& random) {
    RoundScratch<Rational> scratch;
    return speculative_round(target, draft, rule, gamma, context, random, scratch, NoWatch{});
  });
}

template <class Rule>
SmallLaw small_law_by_totals(const Rule& rule, const SmallChain& target, const SmallChain& draft,
                             std::int32_t gamma, std::uint32_t proposals) {
  return emitted_by([&](std::vector<Token>& context, auto& random) {
    return whole_row_round<Rational>(target, draft, rule, gamma, proposals, context, random);
  });
}

void check_count(int different, bool same) {
  if (same) {
    CHECK(different == 0);
  } else {
    CHECK(different > 0);
  }
}

/// Each rule's two rounds are compiled once, whatever they are compared with.
template <class Fast, class Rule>
void check_same(const Fast& fast_rule, const Rule& rule, std::uint64_t seed, std::int32_t largest_gamma,
                int instances, bool same) {
  Philox stream(seed, Site{0, 0, Draw{Use::world, 0}});
  int different = 0;
  for (int instance = 0; instance < instances; ++instance) {
    const std::size_t vocab = 2 + stream() % 2;
    const SmallChain target(stream, vocab);
    const SmallChain draft(stream, vocab);
    const std::int32_t gamma = instance % (largest_gamma + 1);
    const SmallLaw plain = small_law(rule, target, draft, gamma);
    for (const std::uint32_t proposals : {0U, 2U})
      different += small_law_by_totals(fast_rule, target, draft, gamma, proposals) != plain;
  }
  check_count(different, same);
}

}  // namespace

TEST_CASE("exactly: rounds by totals emit and accept what the rules' own rounds do") {
  check_same(BlockRule{}, BlockRule{}, 1, 3, 40, true);
  check_same(HsdRule{}, HsdRule{}, 42, 3, 40, true);
  check_same(RecursiveRule(1), RecursiveRule(1), 2, 2, 12, true);
  check_same(RecursiveRule(2), RecursiveRule(2), 3, 2, 18, true);
  check_same(RecursiveRule(3), RecursiveRule(3), 4, 1, 12, true);
  check_same(KSeqRule(2), KSeqRule(2), 5, 2, 18, true);
  check_same(KSeqRule(3), KSeqRule(3), 6, 1, 12, true);
  check_same(GumbelRule{}, GumbelRule{}, 21, 3, 40, true);
  for (const double survival : {0.2, 0.5, 0.7}) {
    for (const bool as_block : {false, true}) {
      const ScheduledRule rule(survival, as_block);
      check_same(rule, rule, 37, 3, 24, true);
    }
  }
  for (const std::vector<std::int32_t>& branching :
       {std::vector<std::int32_t>{1, 1}, {2}, {3}, {2, 1}, {2, 2}, {1, 2, 1}}) {
    const DraftTree tree = branching_tree(branching);
    check_same(TreeRule(tree), TreeRule(tree), 7, 3, 12, true);
    check_same(TraversalRule(tree), TraversalRule(tree), 8, 3, 12, true);
  }
}

TEST_CASE("exactly: so do rounds by few numbers of a context") {
  check_same(TypicalRule{}, TypicalRule{}, 13, 2, 12, true);
  check_same(TypicalRule(0.4, 0.9), TypicalRule(0.4, 0.9), 14, 2, 12, true);
  check_same(RejectionRule{}, RejectionRule{}, 15, 2, 12, true);
  check_same(MatchRule{}, MatchRule{}, 16, 2, 12, true);
  check_same(TokenRule{}, TokenRule{}, 23, 2, 12, true);
  for (const Residual residual : {Residual::target_minus_draft, Residual::literal, Residual::target})
    check_same(LenienceRule(0.5, residual), LenienceRule(0.5, residual), 41, 2, 12, true);
  check_same(GreedyRule{}, GreedyRule{}, 17, 2, 12, true);
  check_same(GreedyLenienceRule{0.4}, GreedyLenienceRule{0.4}, 18, 2, 12, true);
  check_same(FuzzyRule{}, FuzzyRule{}, 25, 2, 12, true);
  check_same(FuzzyRule(Nearness::tv, 0.4), FuzzyRule(Nearness::tv, 0.4), 26, 2, 12, true);
  check_same(EnsembleRule{}, EnsembleRule{}, 27, 2, 12, true);
  check_same(TolerantRule(0.1, 0.5), TolerantRule(0.1, 0.5), 28, 2, 12, true);
  check_same(DeferralRule{}, DeferralRule{}, 29, 2, 12, true);
  check_same(DeferralRule(Deferral::chow, 0.5), DeferralRule(Deferral::chow, 0.5), 30, 2, 12, true);
  check_same(CascadeRule(0.4), CascadeRule(0.4), 31, 2, 24, true);
  check_same(MarsRule(0.97, 20), MarsRule(0.97, 20), 32, 2, 12, true);
  check_same(BildRule(0.6, 1), BildRule(0.6, 1), 33, 2, 12, true);
  check_same(HalvingRule{}, HalvingRule{}, 44, 2, 12, true);
  check_same(ConcentrationRule{}, ConcentrationRule{}, 45, 2, 12, true);
  check_same(HalfAsLikelyRule{}, HalfAsLikelyRule{}, 46, 2, 12, true);
  check_same(HalvingRule{}, ConcentrationRule{}, 47, 2, 12, false);
  check_same(MatchRule{}, RejectionRule{}, 19, 2, 12, false);
  check_same(TokenRule{}, LenienceRule{0.5}, 24, 2, 12, false);
  check_same(TypicalRule{}, TypicalRule(0.4, 0.9), 20, 2, 12, false);
  check_same(CascadeRule(0.4), CascadeRule(0.1), 34, 2, 24, false);
  check_same(DeferralRule{}, TokenRule{}, 35, 2, 12, false);
  check_same(MarsRule(0.97, 20), GreedyRule{}, 36, 2, 12, false);
}

TEST_CASE("exactly: another rule's round is told apart") {
  check_same(BlockRule{}, BlockPrefixFault{}, 9, 3, 12, false);
  check_same(BlockRule{}, HsdRule{}, 43, 3, 60, false);
  check_same(GumbelRule{}, BlockRule{}, 22, 3, 12, false);
  check_same(ScheduledRule(0.5, true), ScheduledRule(0.5, false), 38, 3, 24, false);
  check_same(ScheduledRule(0.5, true), ScheduledRule(0.7, true), 39, 3, 24, false);
  check_same(ScheduledRule(0.5, false), AnticipatingFault{}, 40, 3, 24, false);
  check_same(RecursiveRule(2), StaleSiblingsFault(2), 10, 1, 12, false);
  check_same(RecursiveRule(2), KSeqRule(2), 11, 1, 12, false);
  const DraftTree tree = branching_tree({2, 1});
  check_same(TreeRule(tree), TraversalRule(tree), 12, 2, 12, false);
}

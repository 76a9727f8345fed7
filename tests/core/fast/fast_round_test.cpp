#include "tests/core/fast/fast_round.hpp"

#include <doctest/doctest.h>

#include <boost/multiprecision/cpp_int.hpp>
#include <functional>
#include <map>
#include <vector>

#include "core/random/block_random_source.hpp"
#include "core/random/enumerated_random_source.hpp"
#include "tests/core/rules/all_rules.hpp"

using namespace speclab;

static_assert(PointwiseRule<TokenRule> && PointwiseRule<LenienceRule>);
// A rule derived from a pointwise rule may differ anywhere.
static_assert(!PointwiseRule<AcceptAllFault> && !PointwiseRule<ResampleTargetFault> &&
              !PointwiseRule<SwappedResidualFault> && !PointwiseRule<ClosedComparisonFault>);
// A rule derived from another is not taken for it: it may verify differently.
static_assert(RuleSaidByPosition<TokenRule> && !RuleSaidByPosition<SharedNoiseFault>);
static_assert(!PointwiseRule<BlockRule> && !PointwiseRule<MatchRule> && !PointwiseRule<TypicalRule>);

namespace {

using Rational = boost::multiprecision::cpp_rational;
using Tokens = std::vector<Token>;

/// Rows by the last token, of small whole numbers so that zeros and equal probabilities occur.
template <class Real>
struct Chain {
  std::vector<std::vector<Real>> rows;
  std::int32_t vocab() const { return static_cast<std::int32_t>(rows.size()); }
  BasicRow<Real> next(std::span<const Token> context, std::vector<Real>&) const {
    return {rows[static_cast<std::size_t>(context.empty() ? 0 : context.back())].data(), vocab()};
  }
};

template <class Real>
Chain<Real> random_chain(Philox& stream, std::size_t vocab) {
  Chain<Real> chain;
  for (std::size_t r = 0; r < vocab; ++r) {
    std::vector<int> counts(vocab);
    int total = 0;
    for (int& count : counts) total += count = static_cast<int>(stream() % 4);
    total += counts[stream() % vocab] == 0 && total == 0 ? counts[0] = 1 : 0;
    auto& row = chain.rows.emplace_back();
    for (const int count : counts) row.push_back(Real(count) / Real(total));
  }
  return chain;
}

/// Returns the distribution of the tokens that one round emits, in exact arithmetic.
std::map<Tokens, Rational> distribution(
    const std::function<void(Tokens&, EnumeratedRandomSource<Rational>&, RoundScratch<Rational>&)>& play) {
  std::map<Tokens, Rational> found;
  const auto program = [&](EnumeratedRandomSource<Rational>& random) {
    Tokens context;
    RoundScratch<Rational> scratch;
    play(context, random, scratch);
    return context;
  };
  enumerate<Rational>(program,
                      [&](const Tokens& emitted, const Rational& weight) { found[emitted] += weight; });
  return found;
}

template <class Rule>
int exact_distributions(const Rule& rule, std::uint64_t seed) {
  Philox stream(seed, Site{0, 0, Draw{Use::world, 0}});
  int compared = 0;
  for (int instance = 0; instance < 12; ++instance) {
    const std::size_t vocab = 2 + stream() % 2;
    const auto target = random_chain<Rational>(stream, vocab);
    const auto draft = random_chain<Rational>(stream, vocab);
    const std::int32_t gamma = instance % 3;
    const auto plain = distribution([&](Tokens& context, auto& random, auto& scratch) {
      speculative_round(target, draft, rule, gamma, context, random, scratch, NoWatch{});
    });
    for (const std::uint32_t proposals : {0U, 1U, 2U, 4U}) {
      const auto fast = distribution([&](Tokens& context, auto& random, auto& scratch) {
        fast_round(target, draft, rule, gamma, proposals, context, random, scratch);
      });
      CHECK(fast == plain);
      ++compared;
    }
  }
  return compared;
}

/// Proposes replacements without their acceptance draw: samples the target instead of the residual.
struct NoAcceptance : TokenRule {
  using SaidByPosition = NoAcceptance;
  using Pointwise = NoAcceptance;
  template <class Real>
  Real residual_scale() const {
    return Real(0);
  }
};

}  // namespace

TEST_CASE("exactly: a fast round emits what a plain one does, for any number of proposals") {
  CHECK(exact_distributions(TokenRule{}, 1) == 48);
  for (const Residual residual : {Residual::target_minus_draft, Residual::literal, Residual::target}) {
    exact_distributions(LenienceRule{0.5, residual}, 2);
  }
  exact_distributions(GreedyRule{}, 3);
  exact_distributions(GreedyLenienceRule{0.4}, 4);
  exact_distributions(TypicalRule{}, 5);
  exact_distributions(RejectionRule{}, 6);
  exact_distributions(CascadeRule{0.3}, 7);
  exact_distributions(SigmoidRule(-20, 5), 8);
}

TEST_CASE("a residual proposed without its acceptance draw is another distribution") {
  const Chain<Rational> target{{{Rational(1, 2), Rational(1, 2)}, {Rational(1, 3), Rational(2, 3)}}};
  const Chain<Rational> draft{{{Rational(1, 4), Rational(3, 4)}, {Rational(1, 2), Rational(1, 2)}}};
  const auto play = [&](const auto& rule) {
    return distribution([&](Tokens& context, auto& random, auto& scratch) {
      fast_round(target, draft, rule, 1, 3, context, random, scratch);
    });
  };
  CHECK(play(TokenRule{}) != play(NoAcceptance{}));
}

TEST_CASE("bit for bit: with the same random numbers both rounds accept the same drafts") {
  Philox stream(5, Site{0, 0, Draw{Use::world, 0}});
  int kept_all = 0;
  int rejected = 0;
  for (std::uint32_t instance = 0; instance < 40; ++instance) {
    const std::size_t vocab = 2 + stream() % 30;
    const auto target = random_chain<double>(stream, vocab);
    const auto draft = random_chain<double>(stream, vocab);
    RoundScratch<double> scratch;
    for (std::uint32_t round = 0; round < 100; ++round) {
      BlockRandomSource random(7, instance, round);
      const Token start = static_cast<Token>(stream() % vocab);
      Tokens plain{start};
      Tokens fast{start};
      const Round a = speculative_round(target, draft, TokenRule{}, 4, plain, random, scratch, NoWatch{});
      const Round b = fast_round(target, draft, TokenRule{}, 4, 16, fast, random, scratch);
      REQUIRE(a.accepted == b.accepted);
      REQUIRE(a.examined == b.examined);
      REQUIRE(plain.size() == fast.size());
      const bool all = a.accepted == 4;
      // All draws are equal except the replacement, which has the same distribution but other numbers.
      for (std::size_t i = 0; i + (all ? 0 : 1) < plain.size(); ++i) REQUIRE(plain[i] == fast[i]);
      (all ? kept_all : rejected) += 1;
    }
  }
  CHECK(kept_all > 100);
  CHECK(rejected > 1000);
}

// Tests that an AnyRule behaves as the rule in it: the same rounds, bit for bit, and the same results.
#include "sim/any_rule.hpp"

#include <doctest/doctest.h>

#include <stdexcept>
#include <vector>

#include "sim/compiled_rule.hpp"
#include "sim/models/synthetic.hpp"
#include "tests/core/rules/all_rules.hpp"

using namespace speclab;

namespace {

Model chain(std::uint64_t seed) { return Model(TableModel(6, 1, dirichlet_rows(6, 6, 0.4, seed))); }

template <class Rule>
void check_rounds(const Rule& rule) {
  const Model target = chain(1);
  const Model draft = chain(2);
  const AnyRule any = rule;
  RoundScratch<double> scratch;
  std::vector<Token> by_rule;
  std::vector<Token> by_any;
  for (std::uint32_t number = 0; number < 200; ++number) {
    SampledRandomSource first = sampled_random_source(7, 0, number);
    SampledRandomSource second = sampled_random_source(7, 0, number);
    int seen = 0;
    const auto watch = [&](std::span<const Token>, Row, const Row*) { ++seen; };
    const Round wanted = speculative_round(target, draft, rule, 3, by_rule, first, scratch, NoWatch{});
    const Round found = any->round(target, draft, 3, by_any, second, scratch, RoundWatch(watch));
    CHECK(found.accepted == wanted.accepted);
    CHECK(found.examined == wanted.examined);
    CHECK(found.drafted == wanted.drafted);
    CHECK(found.next == wanted.next);
    CHECK(seen == found.accepted + 1);
  }
  CHECK(by_any == by_rule);
}

/// Token verification that counts how often all acceptances of a context are asked for at once.
struct CountingRule : TokenRule {
  int* calls;
  explicit CountingRule(int* count) : calls(count) {}

  template <class Real>
  auto acceptances(BasicRow<Real> target, BasicRow<Real> draft) const {
    ++*calls;
    return [this, target, draft](Token token) { return acceptance(token, target, draft); };
  }
};

}  // namespace

TEST_CASE("acceptances that a rule gives at once are asked for once a context") {
  const std::vector<double> target{0.5, 0.3, 0.2};
  const std::vector<double> draft{0.1, 0.3, 0.6};
  int calls = 0;
  QualityScratch quality;
  const AnyRule counting = CountingRule(&calls);
  const Row emitted = counting->emitted_distribution({target.data(), 3}, {draft.data(), 3}, quality);
  CHECK(calls == 1);
  for (Token id = 0; id < 3; ++id)
    CHECK(emitted[id] == doctest::Approx(target[static_cast<std::size_t>(id)]));
}

TEST_CASE("rounds of one draft, of several, of trees, and of whole blocks") {
  check_rounds(TokenRule{});
  check_rounds(MatchRule{});
  check_rounds(BlockRule{});
  check_rounds(RecursiveRule(2));
  check_rounds(TreeRule(branching_tree({2, 1, 1})));
  check_rounds(GrownTreeRule(2, 4));
}

TEST_CASE("what a rule is") {
  const AnyRule token = TokenRule{};
  CHECK(token.get_if<TokenRule>() != nullptr);
  CHECK(token.get_if<LenienceRule>() == nullptr);
  CHECK(token->one_draft());
  CHECK(token->decides_by_position());
  CHECK(token->accepts_or_replaces());
  CHECK(token->has_acceptance_rate());
  CHECK_FALSE(token->takes_argmax());
  CHECK(AnyRule(GreedyLenienceRule{0.5})->takes_argmax());
  const AnyRule match = MatchRule{};
  CHECK(match->decides_by_position());
  CHECK_FALSE(match->accepts_or_replaces());
  const AnyRule block = BlockRule{};
  CHECK(block->one_draft());
  CHECK_FALSE(block->decides_by_position());
  CHECK_FALSE(block->has_acceptance_rate());
  CHECK_FALSE(AnyRule(RecursiveRule(2))->one_draft());
  // A rule derived from another one is not taken for it.
  CHECK(AnyRule(ResampleTargetFault{}).get_if<TokenRule>() == nullptr);
}

TEST_CASE("one position: accepted with the acceptance probability, else replaced") {
  const std::vector<double> target{0.5, 0.3, 0.2};
  const std::vector<double> draft{0.1, 0.3, 0.6};
  const Row p{target.data(), 3};
  const Row q{draft.data(), 3};
  const AnyRule rule = TokenRule{};
  CHECK(rule->context_acceptance(p, q) == doctest::Approx(0.6));
  for (std::uint32_t number = 0; number < 50; ++number) {
    SampledRandomSource random = sampled_random_source(3, 0, number);
    CHECK(rule->decide(1, p, q, 0, random).accepted);
    const PositionOutcome outcome = rule->decide(2, p, q, 0, random);
    CHECK(outcome.token == (outcome.accepted ? 2 : 0));
  }
}

TEST_CASE("questions that a rule has no answer to are refused") {
  const std::vector<double> row{0.5, 0.5};
  const Row p{row.data(), 2};
  SampledRandomSource random = sampled_random_source(3, 0, 0);
  RoundScratch<double> scratch;
  QualityScratch quality;
  std::vector<Token> context;
  const Model model = chain(1);
  const FixedDrafting<Model> drafting{model, 1};
  CHECK_THROWS_AS(AnyRule(BlockRule{})->decide(0, p, p, 0, random), std::logic_error);
  CHECK_THROWS_AS(AnyRule(GumbelRule{})->emitted_distribution(p, p, quality), std::logic_error);
  CHECK_THROWS_AS(AnyRule(RecursiveRule(2))
                      ->drafted_round(model, DraftingRef(drafting), context, random, scratch, RoundWatch()),
                  std::logic_error);
}

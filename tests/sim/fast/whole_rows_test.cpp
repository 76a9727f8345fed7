// Tests fast decoding by rules that read full rows: totals against sums over dense rows, rounds against a
// simple implementation, and equal results for any number of interleaved sequences.
#include <doctest/doctest.h>
#include <tbb/global_control.h>

#include <cmath>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "sim/compiled_rule.hpp"
#include "sim/decode.hpp"
#include "sim/fast/context_facts.hpp"
#include "sim/fast/fast_pair.hpp"
#include "sim/fast/lane_drafts.hpp"
#include "sim/fast/ngram_rows.hpp"
#include "sim/fast/shared_rows.hpp"
#include "sim/fast/table_rows.hpp"
#include "sim/fast/whole_row_pair.hpp"
#include "sim/models/synthetic.hpp"
#include "tests/core/fast/own_rules.hpp"
#include "tests/core/fast/whole_row_round.hpp"
#include "tests/core/rules/all_rules.hpp"
#include "tests/sim/fast/deviation.hpp"
#include "tests/sim/fast/ngram_models.hpp"
#include "tests/sim/fast/single_rounds.hpp"

using namespace speclab;

namespace {

TableModel some_table(std::int32_t vocab, std::int32_t order, std::uint64_t seed) {
  std::uint32_t rows = 1;
  for (std::int32_t k = 0; k < order; ++k) rows *= static_cast<std::uint32_t>(vocab);
  return {vocab, order, dirichlet_rows(vocab, rows, 0.5, seed)};
}

double dense_total(Row target, Row draft, double scale) {
  return total_probability(ResidualRow<double>(target, draft, scale));
}

/// Checks totals of every context at many scales, alone and together, and the properties that the rows
/// report.
template <class Rows>
void check_totals(const Rows& rows) {
  DrawBlocks blocks(1);
  std::vector<ContextTotal> asked;
  std::vector<double> expected;
  std::vector<double> slopes;
  std::vector<double> target_scratch;
  std::vector<double> draft_scratch;
  for (std::uint32_t context = 0; context < rows.contexts(); ++context) {
    const Row p = rows.row(context, target_side, target_scratch);
    const Row q = rows.row(context, draft_side, draft_scratch);
    for (const double scale : {0.0, 0.01, 0.3, 0.9, 1.0, 1.1, 2.0, 30.0}) {
      asked.push_back({context, scale});
      expected.push_back(dense_total(p, q, scale));
      double slope = 0;
      CHECK(std::abs(rows.total(context, scale, slope) - expected.back()) < 1e-12);
      const double above = sum_terms<double>(
          0, p.size, [&](Token token) { return p[token] > scale * q[token] ? q[token] : 0; });
      CHECK(std::abs(slope - above) < 1e-12);
      slopes.push_back(above);
    }
    CHECK(std::abs(static_cast<double>(rows.overlap_quanta(context)) * 0x1p-32 - overlap(p, q)) < 1e-9);
  }
  rows.total(asked, blocks);
  for (std::size_t i = 0; i < asked.size(); ++i) {
    CHECK(std::abs(asked[i].total - expected[i]) < 1e-12);
    CHECK(std::abs(asked[i].draft - slopes[i]) < 1e-12);
  }
}

SimulationSize several_trials() {
  SimulationSize simulation;
  simulation.seed = 9;
  simulation.trials = 41;
  simulation.length = 30;
  simulation.batches = 11;
  simulation.prompts = {{1, 0, 2}, {}, {2}};
  return simulation;
}

template <class Check>
void for_each_rule(const Check& check) {
  check(BlockRule{});
  check(HsdRule{});
  check(ScheduledRule(0.2, true));
  check(ScheduledRule(0.3, false));
  check(GumbelRule{});
  check(RecursiveRule(1));
  check(RecursiveRule(4));
  check(KSeqRule(3));
  check(TreeRule(branching_tree({3, 1, 1})));
  check(TreeRule(branching_tree({2, 2, 1})));
  check(TraversalRule(branching_tree({3, 2, 1})));
}

template <class Check>
void for_each_position_rule(const Check& check) {
  check(MatchRule{});
  check(TypicalRule(0.3, 0.5));
  check(RejectionRule{});
  check(GreedyRule{});
  check(GreedyLenienceRule{0.5});
  check(GreedyLenienceRule(0, 0.3, 3));
  check(MatchRule(0.5, 0.4));
  check(FuzzyRule{});
  check(EnsembleRule{});
  check(TolerantRule{});
  check(DeferralRule{});
  check(CascadeRule{});
  check(MarsRule{});
  check(BildRule(0.1, 3));
  check(HalvingRule{});
  check(ConcentrationRule{});
  check(HalfAsLikelyRule{});
}

template <class Rule>
void check_table_rounds(const TableModel& target, const TableModel& draft, const Rule& rule) {
  const Model target_model(target);
  const Model draft_model(draft);
  const AnyRule any(rule);
  REQUIRE(!fast_unsupported_reason(target_model, draft_model, any));
  const FastPair pair(target_model, draft_model, any);
  CHECK(pair.bytes() <= static_cast<std::size_t>(whole_row_bytes(target_model, draft_model, any)));
  SimulationSize simulation = several_trials();
  simulation.trials = 600;
  simulation.length = 1;
  check_single_rounds(pair, target, draft, rule, {0, 1, 3}, simulation, !std::same_as<Rule, GumbelRule>);
}

}  // namespace

TEST_CASE("totals of stored tables are those of dense rows") {
  for (const auto& [target_order, draft_order] : {std::pair{0, 0}, {1, 1}, {2, 1}, {0, 2}}) {
    check_totals(TableRows(some_table(5, target_order, 1), some_table(5, draft_order, 2)));
  }
  const TableModel large = some_table(100, 1, 3);
  check_totals(TableRows(large, mixed(large, some_table(100, 1, 4), 0.3)));
  check_totals(TableRows(TableModel(3, 0, {0.5, 0.5, 0}), TableModel(3, 0, {0, 0.5, 0.5})));
  check_totals(TableRows(TableModel(3, 0, point_row(3, 1)), TableModel(3, 0, point_row(3, 2))));
  check_totals(TableRows(TableModel(1, 0, {1.0}), TableModel(1, 0, {1.0})));
}

TEST_CASE(
    "totals of n-grams are those of dense rows, at all orders, and where n-grams lie below their back-off") {
  for (const auto& [target_order, draft_order] : {std::pair{2, 2}, {3, 2}, {1, 2}, {4, 1}, {2, 3}, {1, 1}}) {
    const NgramModel target = trained(1, 9, target_order, 400);
    const NgramModel draft = trained(2, 9, draft_order, 300);
    check_totals(NgramRows(target, draft));
    check_totals(NgramRows(with_low_ngrams(target, 10), with_low_ngrams(draft, 11)));
  }
}

TEST_CASE("rounds over stored tables draft, keep and count what the program's statement does") {
  for_each_rule([](const auto& rule) {
    const TableModel target = some_table(5, 2, 1);
    check_table_rounds(target, some_table(5, 1, 3), rule);
    check_table_rounds(target, mixed(target, some_table(5, 2, 2), 0.6), rule);
    check_table_rounds(target, target, rule);
    check_table_rounds(some_table(70, 1, 4), some_table(70, 1, 5), rule);
    // These rows have fewer tokens than siblings.
    check_table_rounds(TableModel(3, 0, {0.2, 0.5, 0.3}), TableModel(3, 0, {0, 0.5, 0.5}), rule);
    check_table_rounds(TableModel(3, 0, point_row(3, 1)), TableModel(3, 0, point_row(3, 2)), rule);
    check_table_rounds(TableModel(1, 0, {1.0}), TableModel(1, 0, {1.0}), rule);
  });
}

TEST_CASE("one outcome at any number of sequences in turn and of threads") {
  const auto check = [](const Model& target, const Model& draft) {
    const auto check_rule = [&](const auto& rule) {
      const FastPair pair(target, draft, AnyRule(rule));
      const SimulationSize simulation = several_trials();
      const Outcome expected = pair.decode(4, simulation);
      CHECK(expected.total().rounds == simulation.total());
      for (const std::size_t streams : {1, 2, 7, 64}) {
        CHECK(pair.decode(4, simulation, Control{}, streams).batches == expected.batches);
      }
      const tbb::global_control one(tbb::global_control::max_allowed_parallelism, 1);
      CHECK(pair.decode(4, simulation).batches == expected.batches);
      CHECK(pair.decode(4, simulation).work == expected.work);
      SimulationSize part = simulation;
      part.only = {3, 5};
      const Outcome some = pair.decode(4, part);
      CHECK(some.batches[3] == expected.batches[3]);
      CHECK(some.batches[4] == expected.batches[4]);
      CHECK(some.batches[5] == Tally{});
    };
    for_each_rule(check_rule);
    for_each_position_rule(check_rule);
  };
  check(Model(some_table(40, 1, 1)), Model(some_table(40, 1, 2)));
  for (const bool low : {false, true}) {
    const NgramModel target = trained(3, 40, 4, 3000);
    const NgramModel draft = trained(4, 40, 2, 2000);
    check(Model(low ? with_low_ngrams(target, 8) : target), Model(low ? with_low_ngrams(draft, 9) : draft));
  }
}

TEST_CASE("the numbers of n-gram contexts are those of dense rows") {
  const auto check = [](const NgramModel& target, const NgramModel& draft) {
    const NgramRows rows(target, draft);
    std::vector<double> target_scratch;
    std::vector<double> draft_scratch;
    const auto check_rule = [&](const auto& rule) {
      if constexpr (!ReadsNumbers<std::remove_cvref_t<decltype(rule)>>) return;
      const ContextFacts<AnyPositionRule> facts(rows, AnyPositionRule(rule));
      for (std::uint32_t context = 0; context < rows.contexts(); ++context) {
        const PositionNumbers<double> expected =
            position_numbers(rule, DenseRows<double>{rows.row(context, target_side, target_scratch),
                                                     rows.row(context, draft_side, draft_scratch)});
        for (int again = 0; again < 2; ++again) {
          const PositionNumbers<double> found = facts.position(context);
          CHECK(std::abs(found.number - expected.number) < 1e-12);
          CHECK(std::abs(found.other - expected.other) < 1e-12);
          CHECK(found.best == expected.best);
          CHECK(found.second == expected.second);
        }
      }
    };
    for_each_position_rule(check_rule);
    check_rule(FuzzyRule(Nearness::tv, 0.4));
    check_rule(DeferralRule(Deferral::chow, 0.6));
    check_rule(DeferralRule(Deferral::difference, 0.05));
    check_rule(CascadeRule(0.7));
    check_rule(MarsRule(0.5, 20));
    check_rule(BildRule(0.5, 1));
    const ContextFacts<ScheduledRule> facts(rows, ScheduledRule{});
    for (std::uint32_t context = 0; context < rows.contexts(); ++context) {
      const Row draft_row = rows.row(context, draft_side, draft_scratch);
      CHECK(facts.draft_best(context) == draft_row[argmax(draft_row)]);
    }
  };
  for (const auto& [target_order, draft_order] : {std::pair{2, 2}, {3, 2}, {1, 2}, {4, 1}, {2, 3}, {1, 1}}) {
    const NgramModel target = trained(1, 9, target_order, 400);
    const NgramModel draft = trained(2, 9, draft_order, 300);
    check(target, draft);
    check(with_low_ngrams(target, 10), with_low_ngrams(draft, 11));
  }
}

namespace {

/// Replaces by a token of the target where CascadeRule replaces by one of its residual.
struct UnthinnedCascade : CascadeRule {
  using SaidByPosition = UnthinnedCascade;
  using CascadeRule::CascadeRule;
  template <class Real>
  BasicRow<Real> replacement(BasicRow<Real> target, BasicRow<Real>) const {
    return target;
  }
};

/// Returns a text in which 1, 2 and 3 follow one another, with an occasional 0, after which `after_zero` are
/// the weights of 0 to 3: the last token tells where models of two such texts agree.
std::vector<Token> rounds_with_zeros(std::uint64_t seed, const std::vector<double>& after_zero) {
  Philox stream = world(seed);
  const auto uniform = [&stream] { return static_cast<double>(stream() >> 11U) * 0x1p-53; };
  std::vector<Token> tokens{0};
  while (tokens.size() < 4000) {
    double left = uniform();
    if (tokens.back() != 0) {
      tokens.push_back(left < 0.1 ? 0 : tokens.back() % 3 + 1);
      continue;
    }
    Token next = 0;
    while (next < 3 && left >= after_zero[static_cast<std::size_t>(next)])
      left -= after_zero[static_cast<std::size_t>(next++)];
    tokens.push_back(next);
  }
  return tokens;
}

}  // namespace

// Null: both engines emit one law, which later acceptances depend on. There are 30 comparisons of 40 batches
// each; a right engine differs by 7 standard errors in one of 20 million runs of this test (Student's t of 78
// degrees). The planted fault, a residual that is not thinned, differs by more than 10.
TEST_CASE("over n-grams rules that decide position by position accept and replace as dense rows say") {
  const Model target(train_kneser_ney(rounds_with_zeros(5, {0.3, 0.4, 0.15, 0.15}), 4, 3));
  const Model draft(train_kneser_ney(rounds_with_zeros(6, {0.85, 0.05, 0.05, 0.05}), 4, 2));
  SimulationSize simulation;
  simulation.trials = 2000;
  simulation.length = 40;
  simulation.batches = 40;
  const auto plain = [&](const AnyRule& rule) {
    simulation.seed = 8;
    return decode_speculatively(target, draft, rule, 3, simulation).batches;
  };
  const auto fast = [&](const AnyRule& rule) {
    simulation.seed = 7;
    return FastPair(target, draft, rule).decode(3, simulation).batches;
  };
  for_each_position_rule(
      [&](const auto& rule) { CHECK(deviation(fast(AnyRule(rule)), plain(AnyRule(rule))) < 7); });
  CHECK(deviation(fast(AnyRule(CascadeRule{})), plain(AnyRule(UnthinnedCascade{}))) > 10);
}

TEST_CASE("rules share the rows of a pair while they are in use") {
  const TableModel target = some_table(10, 1, 1);
  const TableModel draft = some_table(10, 1, 2);
  SharedRows shared;
  auto first = shared.get<TableRows>(target, draft);
  CHECK(shared.get<TableRows>(target, draft) == first);
  CHECK(shared.get<TableRows>(draft, target) != first);
  const std::weak_ptr<const PairRows> watched = first;
  first.reset();
  CHECK(watched.expired());
}

TEST_CASE("a run that is stopped says so and keeps what it has") {
  const FastPair pair = [] {
    static const Model target(some_table(10, 1, 1));
    static const Model draft(some_table(10, 1, 2));
    return FastPair(target, draft, AnyRule(BlockRule{}));
  }();
  Control control;
  control.stop = [] { return true; };
  SimulationSize simulation = several_trials();
  simulation.trials = 2000;
  const Outcome outcome = pair.decode(4, simulation, control);
  CHECK(outcome.partial);
  CHECK(outcome.total().rounds < simulation.total());
}

TEST_CASE("what a rule needs of n-grams beyond its bound of memory is refused before it is made") {
  const Model target(trained(1, 9, 3, 400));
  const Model draft(trained(2, 9, 2, 300));
  const auto check = [&](const auto& rule) {
    const AnyRule any(rule);
    const NgramTable table(*target.ngram(), *draft.ngram(), TokenRule{});
    CHECK(FastPair(target, draft, any).bytes() - table.bytes() <=
          static_cast<std::size_t>(whole_row_bytes(target, draft, any)));
  };
  for_each_rule(check);
  for_each_position_rule(check);
  CHECK_FALSE(fast_unsupported_reason(target, draft, AnyRule(BlockRule{})));
  CHECK(fast_unsupported_reason(target, draft, AnyRule(BlockPrefixFault{})));
  CHECK(fast_unsupported_reason(target, draft, AnyRule(ImportanceRule(2))));
  CHECK_FALSE(fast_unsupported_reason(target, draft, AnyRule(HsdRule{})));
  CHECK(fast_unsupported_reason(target, draft, AnyRule(HsdRule(HsdReading::pseudocode))));
}

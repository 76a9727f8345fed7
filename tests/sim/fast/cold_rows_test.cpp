// Tests the fast engine on rows as low temperatures make them, with ties, zeros and the smallest numbers that
// a double holds. tests/core/fast/cold_rows_test.cpp proves the programs with which it is compared here.
#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "sim/compiled_rule.hpp"
#include "sim/decode.hpp"
#include "sim/error.hpp"
#include "sim/fast/fast_pair.hpp"
#include "sim/fast/table_rows.hpp"
#include "tests/core/fast/cold_rows.hpp"
#include "tests/core/fast/whole_row_round.hpp"
#include "tests/core/rules/all_rules.hpp"
#include "tests/sim/fast/deviation.hpp"
#include "tests/sim/fast/ngram_models.hpp"
#include "tests/sim/fast/single_rounds.hpp"

using namespace speclab;

namespace {

/// Returns a table whose rows depend on the last token.
TableModel cold_table(Philox& stream, std::int32_t vocab) {
  std::vector<double> all;
  for (const auto& row : cold_rows(stream, static_cast<std::size_t>(vocab), static_cast<std::size_t>(vocab)))
    all.insert(all.end(), row.begin(), row.end());
  return {vocab, 1, all};
}

/// Draws 2,000 tokens from the residual of each context at each scale. Returns how many tokens occur too
/// rarely or too often by more than seven standard deviations and seven draws. `planted` draws from the
/// target instead.
int deviating_tokens(const TableRows& rows, std::span<const double> scales, bool planted) {
  constexpr std::uint32_t count = 2000;
  DrawBlocks blocks(5);
  std::vector<double> unused;
  int deviating = 0;
  for (std::uint32_t context = 0; context < rows.contexts(); ++context) {
    const Row p = rows.row(context, target_side, unused);
    const Row q = rows.row(context, draft_side, unused);
    for (const double scale : scales) {
      const ResidualRow<double> residual(p, q, scale);
      const double total = total_probability(residual);
      // Smaller totals are rounding, or happen too rarely.
      if (!(total > 1e-9)) continue;
      const double drawn_scale = planted ? 0 : scale;
      std::vector<RowDraw> draws;
      for (std::uint32_t i = 0; i < count; ++i) {
        draws.push_back({.context = context,
                         .trial = i,
                         .round = 1,
                         .site = 2,
                         .scale = drawn_scale,
                         .above = drawn_scale});
      }
      rows.draw_residual(draws, blocks);
      std::vector<double> drawn(static_cast<std::size_t>(p.size));
      for (const RowDraw& draw : draws) ++drawn[static_cast<std::size_t>(draw.token)];
      for (Token token = 0; token < p.size; ++token) {
        const double share = residual[token] / total;
        const double allowed = 7 * std::sqrt(count * share * (1 - share)) + 7;
        deviating += std::abs(drawn[static_cast<std::size_t>(token)] - count * share) > allowed;
      }
    }
  }
  return deviating;
}

/// Returns whether the fast engine runs the pair; if so, checks that its rounds are those of its program.
template <class Rule>
bool check_cold_rounds(const TableModel& target, const TableModel& draft, const Rule& rule) {
  const Model target_model(target);
  const Model draft_model(draft);
  SimulationSize simulation;
  simulation.seed = 9;
  simulation.trials = 100;
  simulation.length = 1;
  simulation.batches = 5;
  simulation.prompts = {{0}, {1}, {2}};
  try {
    const FastPair pair(target_model, draft_model, AnyRule(rule));
    check_single_rounds(pair, target, draft, rule, {1, 2}, simulation, false);
    return true;
  } catch (const ModelError& error) {
    CHECK(std::string(error.what()).find("siblings without replacement") != std::string::npos);
    return false;
  }
}

double accepted_per_round(const TableModel& target, const TableModel& draft, const AnyRule& rule) {
  const Model target_model(target);
  const Model draft_model(draft);
  SimulationSize simulation;
  simulation.trials = 64;
  simulation.length = 300;
  const Tally tally = FastPair(target_model, draft_model, rule).decode(2, simulation).total();
  return static_cast<double>(tally.accepted) / static_cast<double>(tally.rounds);
}

}  // namespace

// Null: draws follow the residual's weights. There are at most 8,000 counts of 2,000 draws; with a right
// engine one exceeds its bound in fewer than one of 10^6 runs of this test (Bernstein); with draws from the
// target, the planted fault, more than 100 do.
TEST_CASE("totals of cold rows are those of dense ones, and draws from their residuals follow the weights") {
  Philox stream(61, Site{0, 0, Draw{Use::world, 0}});
  int planted = 0;
  const std::vector<double> scales{0, 1e-300, 1e-16, 0.3, 1, 1.7, 1e16, 1e200};
  for (int pair = 0; pair < 40; ++pair) {
    const TableModel target = cold_table(stream, 5);
    const TableModel draft = cold_table(stream, 5);
    const TableRows rows(target, draft);
    std::vector<double> unused;
    for (std::uint32_t context = 0; context < rows.contexts(); ++context) {
      for (const double scale : scales) {
        const ResidualRow<double> residual(rows.row(context, target_side, unused),
                                           rows.row(context, draft_side, unused), scale);
        double slope;
        CHECK(std::abs(rows.total(context, scale, slope) - total_probability(residual)) < 1e-12);
      }
    }
    CHECK(deviating_tokens(rows, scales, false) == 0);
    planted += deviating_tokens(rows, scales, true);
  }
  CHECK(planted > 100);
}

TEST_CASE("rounds over cold rows are those of the program's statement, or are refused") {
  Philox stream(62, Site{0, 0, Draw{Use::world, 0}});
  int run = 0;
  int refused = 0;
  const auto check = [&](const auto& rule) {
    for (int pair = 0; pair < 40; ++pair) {
      const TableModel target = cold_table(stream, 4);
      const TableModel draft = cold_table(stream, 4);
      (check_cold_rounds(target, draft, rule) ? run : refused) += 1;
    }
  };
  check(BlockRule{});
  check(HsdRule{});
  check(ScheduledRule(0.5, true));
  check(GumbelRule{});
  check(RecursiveRule(3));
  check(KSeqRule(3));
  check(MatchRule{});
  CHECK(refused == 0);
  check(TreeRule(branching_tree({3, 1})));
  check(TreeRule(branching_tree({2, 2})));
  check(TraversalRule(branching_tree({3, 1})));
  check(TraversalRule(branching_tree({2, 2})));
  CHECK(refused > 40);
  CHECK(run > 320);
}

// Null: both engines accept with the same distribution. There are 14 comparisons of means of 19,200 rounds
// with at most two accepted tokens, whose difference has a standard error of at most 0.0102: a right engine
// exceeds seven of them in one of 10^10 runs. An engine that takes the draft's remaining probability for 0
// accepts one token less.
TEST_CASE("a second sibling after one that had nearly all is accepted as it should be") {
  std::vector<Token> order;
  const auto peaked = [&](std::vector<double> row, double temperature) {
    adjust(row, {.temperature = temperature}, order);
    return TableModel(3, 0, row);
  };
  const DraftTree two_chains = branching_tree({2, 1});
  for (const double temperature : {0.5, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002}) {
    const TableModel target = peaked({0.5, 0.3, 0.2}, temperature);
    const TableModel draft = peaked({0.3, 0.5, 0.2}, temperature);
    for (const AnyRule& rule : {AnyRule(TreeRule(two_chains)), AnyRule(TraversalRule(two_chains))}) {
      SimulationSize simulation;
      simulation.trials = 64;
      simulation.length = 300;
      simulation.seed = 3;
      const Tally plain = decode_speculatively(Model(target), Model(draft), rule, 2, simulation).total();
      const double expected = static_cast<double>(plain.accepted) / static_cast<double>(plain.rounds);
      CHECK(std::abs(accepted_per_round(target, draft, rule) - expected) < 0.07);
    }
  }
}

TEST_CASE("a block whose ratio has no inverse in double is not accepted") {
  const std::vector<double> low{1, 1e-320, 0};
  const std::vector<double> high{0, 1, 1e-320};
  for (const AnyRule& rule : {AnyRule(BlockRule{}), AnyRule(HsdRule{}), AnyRule(ScheduledRule(0.1, true))}) {
    CHECK(accepted_per_round(TableModel(3, 0, low), TableModel(3, 0, high), rule) == 0);
  }
}

// Null: both engines emit the same distribution. There are 2 comparisons of 40 batches each; a right engine
// differs by 7 standard errors in one of 300 million runs of this test (Student's t of 78 degrees); the
// planted fault, siblings taken for independent ones, differs by more than 10.
TEST_CASE("siblings of n-grams at the lowest temperature are accepted as the plain engine accepts them") {
  const Model target = adjusted(Model(trained(5, 12, 3, 3000)), {.temperature = 0.1});
  const Model draft = adjusted(Model(trained(6, 12, 2, 2000)), {.temperature = 0.1});
  SimulationSize simulation;
  simulation.trials = 800;
  simulation.length = 50;
  simulation.batches = 40;
  const auto plain = [&](const AnyRule& rule) {
    simulation.seed = 8;
    return decode_speculatively(target, draft, rule, 2, simulation).batches;
  };
  const auto fast = [&](const AnyRule& rule) {
    simulation.seed = 7;
    return FastPair(target, draft, rule).decode(2, simulation).batches;
  };
  const DraftTree tree = branching_tree({2, 1});
  CHECK(deviation(fast(AnyRule(TreeRule(tree))), plain(AnyRule(TreeRule(tree)))) < 7);
  CHECK(deviation(fast(AnyRule(TraversalRule(tree))), plain(AnyRule(TraversalRule(tree)))) < 7);
  CHECK(deviation(fast(AnyRule(RecursiveRule(2))), plain(AnyRule(TreeRule(tree)))) > 10);
}

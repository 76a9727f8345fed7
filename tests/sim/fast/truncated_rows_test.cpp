// Tests n-gram rows with top-k and top-p on the fast engine: rows and runs against those of sim/decode.hpp.
#include "sim/fast/truncated_rows.hpp"

#include <doctest/doctest.h>
#include <tbb/global_control.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "sim/compiled_rule.hpp"
#include "sim/decode.hpp"
#include "sim/error.hpp"
#include "sim/fast/fast_pair.hpp"
#include "sim/fast/shared_rows.hpp"
#include "sim/fast/whole_row_pair.hpp"
#include "tests/core/fast/own_rules.hpp"
#include "tests/core/rules/all_rules.hpp"
#include "tests/sim/fast/deviation.hpp"
#include "tests/sim/fast/ngram_models.hpp"

using namespace speclab;

namespace {

const std::vector<Adjustment> options{{.top_k = 1},
                                      {.top_k = 3},
                                      {.top_p = 0.6},
                                      {.temperature = 0},
                                      {.temperature = 0.6, .top_k = 5, .top_p = 0.8},
                                      {.temperature = 1.5, .top_k = 4},
                                      {.temperature = 0.7, .top_p = 0.7},
                                      {.temperature = 0.003, .top_k = 5},
                                      {.temperature = 0.0002, .top_k = 5, .top_p = 0.9}};

/// Returns all contexts of up to three tokens.
std::vector<std::vector<Token>> contexts_of(std::int32_t vocab) {
  std::vector<std::vector<Token>> all{{}};
  for (std::size_t at = 0; at < all.size() && all[at].size() < 3; ++at) {
    for (Token token = 0; token < vocab; ++token) {
      all.push_back(all[at]);
      all.back().push_back(token);
    }
  }
  return all;
}

void check_rows(const Model& target, const Model& draft) {
  REQUIRE(TruncatedRows::ngram_of(target) != nullptr);
  REQUIRE(TruncatedRows::ngram_of(draft) != nullptr);
  const TruncatedRows rows(*target.sampled(), *draft.sampled());
  const TruncatedRows unkept(*target.sampled(), *draft.sampled(), 0);
  std::vector<double> p_scratch;
  std::vector<double> q_scratch;
  std::vector<double> scratch;
  double largest = 0;
  std::vector<RowDraw> draws;
  for (const std::vector<Token>& tokens : contexts_of(target.vocab())) {
    const Row p = target.next(tokens, p_scratch);
    const Row q = draft.next(tokens, q_scratch);
    const std::uint32_t context = rows.context_of(tokens);
    const auto differ = [&](double one, double two) { largest = std::max(largest, std::abs(one - two)); };
    for (const auto& [expected, side] : {std::pair{p, target_side}, std::pair{q, draft_side}}) {
      const Row found = rows.row(context, side, scratch);
      for (Token token = 0; token < p.size; ++token) differ(found[token], expected[token]);
    }
    for (const double scale : {0.0, 0.3, 0.9, 1.0, 1.1, 5.0}) {
      double draft_share;
      differ(rows.total(context, scale, draft_share), total_probability(ResidualRow<double>(p, q, scale)));
      differ(draft_share, sum_terms<double>(0, p.size, [&](Token token) {
               return p[token] > scale * q[token] ? q[token] : 0;
             }));
    }
    draws.push_back({.context = context,
                     .trial = static_cast<std::uint32_t>(draws.size()),
                     .round = 1,
                     .site = 2,
                     .scale = 1,
                     .above = 1});
  }
  CHECK(largest < 1e-12);

  // Rows that are not kept are computed again, with the same result.
  const auto drawn = [&](const TruncatedRows& from, int way) {
    std::vector<RowDraw> made = draws;
    DrawBlocks blocks(7);
    if (way < 2) from.draw(way == 0 ? target_side : draft_side, made, blocks);
    if (way == 2) from.draw_residual(made, blocks);
    std::vector<std::uint64_t> all;
    for (const RowDraw& one : made) {
      all.push_back(static_cast<std::uint64_t>(one.token));
      all.push_back(one.next);
    }
    return all;
  };
  for (const int way : {0, 1, 2}) CHECK(drawn(rows, way) == drawn(unkept, way));
}

}  // namespace

TEST_CASE("rows, and totals over them, are those of the models") {
  for (const bool low : {false, true}) {
    const NgramModel p = trained(1, 9, 3, 400);
    const NgramModel q = trained(2, 9, 2, 300);
    const Model target(low ? with_low_ngrams(p, 10) : p);
    const Model draft(low ? with_low_ngrams(q, 11) : q);
    for (const Adjustment& how : options) {
      if (low && how.temperature == 0.7) continue;  // such models have no temperature
      check_rows(adjusted(target, how), adjusted(draft, how));
      check_rows(adjusted(target, how), adjusted(draft, options[2]));
    }
  }
}

// Partial sums in another order differ from the bound in their last digits.
TEST_CASE("a top-p that is just the sum of some tokens keeps what it keeps of whole rows") {
  const Model model(trained(1, 9, 3, 400));
  std::vector<double> scratch;
  int rounded = 0;
  for (std::size_t i = 0; const std::vector<Token>& tokens : contexts_of(model.vocab())) {
    if (++i % 23 != 0) continue;
    const Row row = model.next(tokens, scratch);
    std::vector<double> falling(row.probabilities, row.probabilities + row.size);
    std::sort(falling.rbegin(), falling.rend());
    const std::size_t keep = 1 + i % 6;
    double down = 0;
    double up = 0;
    for (std::size_t k = 0; k < keep; ++k) {
      down += falling[k];
      up += falling[keep - 1 - k];
    }
    rounded += down < up ? 1 : 0;
    const Model cut = adjusted(model, {.top_p = up});
    const TruncatedRows rows(*cut.sampled(), *cut.sampled());
    std::vector<double> expected;
    std::vector<double> found;
    const Row whole = cut.next(tokens, expected);
    const Row fast = rows.row(rows.context_of(tokens), target_side, found);
    std::size_t kept = 0;
    for (Token token = 0; token < row.size; ++token) {
      CHECK((whole[token] > 0) == (fast[token] > 0));
      kept += fast[token] > 0 ? 1 : 0;
    }
    CHECK(kept == keep);
  }
  CHECK(rounded > 0);
}

TEST_CASE("models whose options keep whole rows are not taken for those") {
  const Model ngram(trained(1, 9, 3, 400));
  CHECK(TruncatedRows::ngram_of(ngram) == nullptr);
  CHECK(TruncatedRows::ngram_of(adjusted(ngram, {.top_k = 9})) == nullptr);
  CHECK(TruncatedRows::ngram_of(adjusted(ngram, {.temperature = 0.05})) == nullptr);
  CHECK(TruncatedRows::ngram_of(adjusted(ngram, {.temperature = 0.05, .top_p = 0.9})) == nullptr);
  // The divisor of siblings without replacement is too small there.
  const Model cold = adjusted(ngram, {.temperature = 0.003, .top_k = 3});
  CHECK_THROWS_AS(FastPair(cold, cold, AnyRule(TreeRule(branching_tree({2})))), ModelError);
  CHECK(FastPair(cold, cold, AnyRule(BlockRule{})).contexts() > 0);
  CHECK(fast_unsupported_reason(ngram, adjusted(ngram, {.top_k = 3}), AnyRule(TokenRule{})));
  CHECK(fast_unsupported_reason(adjusted(ngram, {.top_k = 3}), adjusted(ngram, {.top_k = 3}),
                                AnyRule(SigmoidRule{})));
}

// Null: both engines emit one law. There are 24 comparisons of 40 batches each; a right engine differs by 7
// standard errors in one of 26 million runs of this test (Student's t of 78 degrees). The planted fault, one
// token more in the target's rows, differs by more than 10.
TEST_CASE("runs accept what the plain engine's do, also with fewer tokens than siblings") {
  const NgramModel p = trained(5, 40, 3, 3000);
  const NgramModel q = trained(6, 40, 2, 2000);
  SimulationSize simulation;
  simulation.trials = 400;
  simulation.length = 50;
  simulation.batches = 40;
  const auto plain = [&](const Adjustment& how, const AnyRule& rule) {
    simulation.seed = 8;
    return decode_speculatively(adjusted(Model(p), how), adjusted(Model(q), how), rule, 3, simulation)
        .batches;
  };
  const auto fast = [&](const Adjustment& how, const AnyRule& rule) {
    simulation.seed = 7;
    const Model target = adjusted(Model(p), how);
    const Model draft = adjusted(Model(q), how);
    REQUIRE(!fast_unsupported_reason(target, draft, rule));
    const FastPair pair(target, draft, rule);
    const NgramTable table(p, q, TokenRule{});
    CHECK(pair.bytes() - table.bytes() <= static_cast<std::size_t>(whole_row_bytes(target, draft, rule)));
    const auto batches = pair.decode(3, simulation).batches;
    const tbb::global_control one(tbb::global_control::max_allowed_parallelism, 1);
    CHECK(pair.decode(3, simulation, Control{}, 5).batches == batches);
    return batches;
  };
  for (const Adjustment& how :
       {Adjustment{.top_k = 2}, Adjustment{.temperature = 0.8, .top_k = 8, .top_p = 0.9}}) {
    for (const AnyRule& rule :
         {AnyRule(TokenRule{}), AnyRule(LenienceRule(0.5)), AnyRule(MatchRule{}), AnyRule(BlockRule{}),
          AnyRule(RecursiveRule(3)), AnyRule(KSeqRule(3)), AnyRule(TreeRule(branching_tree({3, 2, 1}))),
          AnyRule(TraversalRule(branching_tree({3, 1, 1}))), AnyRule(ScheduledRule(0.3, true)),
          AnyRule(CascadeRule(0.3)), AnyRule(GumbelRule{}), AnyRule(HalvingRule{})}) {
      CHECK(deviation(fast(how, rule), plain(how, rule)) < 7);
    }
  }
  CHECK(deviation(fast({.top_k = 2}, BlockRule{}), plain({.top_k = 3}, BlockRule{})) > 10);
}

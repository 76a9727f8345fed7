// Tests whether fast rounds, with Philox blocks and alias tables, have the distribution that enumeration
// proves for their program.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <vector>

#include "analysis/statistics/fit_power.hpp"
#include "analysis/statistics/multiple_tests.hpp"
#include "analysis/statistics/sequence_tests.hpp"
#include "core/random/block_random_source.hpp"
#include "sim/compiled_rule.hpp"
#include "sim/fast/coupled_thresholds.hpp"
#include "sim/fast/fast_pair.hpp"
#include "sim/fast/ngram_rows.hpp"
#include "sim/fast/table_rows.hpp"
#include "sim/models/table_model.hpp"
#include "tests/bounds.hpp"
#include "tests/core/fast/fast_round.hpp"
#include "tests/planned_power.hpp"
#include "tests/sim/fast/ngram_models.hpp"

using namespace speclab;

namespace {

constexpr std::int32_t vocab = 3;
constexpr std::size_t length = 3;
constexpr std::uint32_t samples = 200000;

const TableModel target(vocab, 1, {0.5, 0.3, 0.2, 0.2, 0.5, 0.3, 0.3, 0.2, 0.5});
const TableModel draft(vocab, 1, {0.2, 0.3, 0.5, 0.4, 0.3, 0.3, 0.1, 0.6, 0.3});

/// The planted fault: the acceptance draw is the word that chose the token, as if noise were shared.
struct SharedWord {
  BlockRandomSource random;
  std::uint64_t seed;
  std::uint32_t trial;
  std::uint32_t round;

  SharedWord(std::uint64_t s, std::uint32_t t, std::uint32_t r)
      : random(s, t, r), seed(s), trial(t), round(r) {}
  bool bernoulli(Draw draw, double probability) {
    if (draw.use == Use::accept) draw.use = Use::draft;
    return open_unit(Philox(seed, Site{trial, round, draw})()) < probability;
  }
  template <class Weights>
  Token categorical(Draw draw, const Weights& weights) {
    return random.categorical(draw, weights);
  }
};

template <class Random>
std::vector<Token> sequences(std::uint32_t proposals) {
  std::vector<Token> all;
  RoundScratch<double> scratch;
  const std::uint64_t seed = test_seed(17);
  for (std::uint32_t trial = 0; trial < samples; ++trial) {
    std::vector<Token> context{0};
    for (std::uint32_t round = 0; context.size() < 1 + length; ++round) {
      Random random(seed, trial, round);
      fast_round(target, draft, TokenRule{}, 2, proposals, context, random, scratch);
    }
    all.insert(all.end(), context.begin() + 1, context.begin() + 1 + length);
  }
  return all;
}

/// Counts 200,000 residuals of a context by token; residuals of another scale are the planted fault.
template <class Rows>
std::vector<std::uint64_t> residuals(const Rows& rows, std::uint32_t context, double scale) {
  std::vector<std::uint64_t> counts(static_cast<std::size_t>(rows.vocab()));
  DrawBlocks blocks(test_seed(23));
  std::vector<RowDraw> draws;
  for (std::uint32_t first = 0; first < samples; first += 100) {
    draws.clear();
    for (std::uint32_t trial = first; trial < first + 100; ++trial) {
      draws.push_back({.context = context,
                       .trial = trial,
                       .round = context,
                       .site = use_and_slot(Draw{Use::replace, 1}),
                       .scale = scale,
                       .above = scale});
    }
    rows.draw_residual(draws, blocks);
    for (const RowDraw& draw : draws) ++counts[static_cast<std::size_t>(draw.token)];
  }
  return counts;
}

std::vector<double> dense_residual(Row p, Row q, double scale) {
  const ResidualRow<double> weights(p, q, scale);
  const double total = total_probability(weights);
  std::vector<double> row;
  for (Token token = 0; token < p.size; ++token) row.push_back(total > 0 ? weights[token] / total : p[token]);
  return row;
}

/// Null: residuals have the distribution of norm((p - scale q)+), in each of the contexts. The fault draws
/// them with 9/10 of the scale.
template <class Rows>
void check_residuals(const Rows& rows, const std::vector<std::uint32_t>& contexts) {
  double least = 1;
  for (const std::uint32_t context : contexts) {
    for (const double scale : {0.2, 1.0, 1.5}) {
      std::vector<double> target_scratch;
      std::vector<double> draft_scratch;
      const std::vector<double> expected =
          dense_residual(rows.row(context, target_side, target_scratch),
                         rows.row(context, draft_side, draft_scratch), scale);
      CHECK(fit_test(residuals(rows, context, scale), expected).p() > p_value_bound);
      least = std::min(least, fit_test(residuals(rows, context, 0.9 * scale), expected).p());
    }
  }
  CHECK(least < 1e-30);
}

/// Counts by token 200,000 tokens that the Gumbel coupling emits where it rejects a drafted token. `moves`:
/// each token has its threshold; the planted fault uses that of the drafted token for all.
template <class Rows>
std::vector<std::uint64_t> coupled_tokens(const Rows& rows, std::uint32_t context, double from, bool moves) {
  std::vector<std::uint64_t> counts(static_cast<std::size_t>(rows.vocab()));
  DrawBlocks blocks(test_seed(29));
  double unused;
  const double accepted = coupled_share(from, rows.total(context, from, unused));
  std::vector<RowDraw> draws;
  std::vector<double> numbers;
  for (std::uint32_t trial = 0; trial < samples; ++trial) {
    const double uniform = open_unit(philox_words(test_seed(31), 0, 0, context, trial).first);
    numbers.push_back(accepted + uniform * (1 - accepted));
    draws.push_back({.context = context,
                     .trial = trial,
                     .round = context,
                     .site = use_and_slot(Draw{Use::replace, 1}),
                     .above = from});
  }
  if (moves) find_thresholds(rows, draws, numbers, blocks);
  rows.draw_residual(draws, blocks);
  for (const RowDraw& draw : draws) ++counts[static_cast<std::size_t>(draw.token)];
  return counts;
}

/// Null: where token x is rejected, the emitted token has the distribution that the rule couples x with. The
/// fault draws from p over the tokens with larger p/q than x.
template <class Rows>
void check_coupled(const Rows& rows, const std::vector<std::uint32_t>& contexts) {
  double least = 1;
  for (const std::uint32_t context : contexts) {
    std::vector<double> target_scratch;
    std::vector<double> draft_scratch;
    const Row p = rows.row(context, target_side, target_scratch);
    const Row q = rows.row(context, draft_side, draft_scratch);
    for (const Token drafted : {0, 1, 2}) {
      std::vector<double> expected = GumbelRule{}.coupled(drafted, p, q).probabilities;
      expected[static_cast<std::size_t>(drafted)] = 0;
      const double rejected = total_probability(Row{expected.data(), p.size});
      if (!(rejected > 1e-9)) continue;
      for (double& one : expected) one /= rejected;
      const double ratio = p[drafted] / q[drafted];
      CHECK(fit_test(coupled_tokens(rows, context, ratio, true), expected).p() > p_value_bound);
      least = std::min(least, fit_test(coupled_tokens(rows, context, ratio, false), expected).p());
    }
  }
  CHECK(least < 1e-30);
}

std::vector<std::uint32_t> some_contexts(const NgramRows& rows) {
  return {0, rows.context_of(std::vector<Token>{1}), rows.context_of(std::vector<Token>{0, 1}),
          rows.context_of(std::vector<Token>{1, 3, 9})};
}

}  // namespace

TEST_CASE("residuals by sorted lists have the distribution of dense rows; another scale is found out") {
  check_residuals(TableRows(target, draft), {0, 1, 2});
  const NgramModel long_target = trained(3, 12, 4, 3000);
  const NgramModel short_draft = trained(4, 12, 2, 2000);
  const NgramRows rows(with_low_ngrams(long_target, 8), with_low_ngrams(short_draft, 9));
  check_residuals(rows, some_contexts(rows));
  check_coupled(rows, some_contexts(rows));
}

TEST_CASE("long: residuals of n-grams without rare words have the distribution of dense rows") {
  const NgramRows rows(trained(3, 12, 4, 3000), trained(4, 12, 2, 2000));
  check_residuals(rows, some_contexts(rows));
  check_coupled(rows, some_contexts(rows));
}

TEST_CASE(
    "tokens coupled by thresholds have the distribution of dense rows; thresholds that stay are found out") {
  check_coupled(TableRows(target, draft), {0, 1, 2});
  check_coupled(TableRows(draft, target), {0, 1, 2});
}

// Null: the first three tokens have the target's joint distribution. A total variation of .017 or more is
// found with probability .99 at this level; the shared word changes the distribution by more than that.
TEST_CASE("the tokens of fast rounds have the target's distribution; a shared word is found out") {
  const ExactSequenceTests tests(plain_distribution<double>(target, std::vector<Token>{0}, length), vocab,
                                 length);
  const SequenceTests by_proposals = tests.test(sequences<BlockRandomSource>(16));
  CHECK(by_proposals.adjusted_p() > p_value_bound);
  CHECK(tests.test(sequences<BlockRandomSource>(0)).adjusted_p() > p_value_bound);
  CHECK(tests.test(sequences<SharedWord>(16)).adjusted_p() < 1e-100);
  CHECK(detectable_total_variation(by_proposals.joint.degrees, samples, p_value_bound, 0.99) < 0.017);
}

// Null: accepted lengths of an i.i.d. pair are geometric, cut off at gamma, with the overlap of its rows. The
// alternative is a distribution whose alpha is off by .005, which is found with probability 1 - 1e-9.
TEST_CASE(
    "accepted lengths of the interleaved engine have the geometric distribution; another alpha is found "
    "out") {
  const Model p(TableModel(4, 0, {0.4, 0.3, 0.2, 0.1}));
  const Model q(TableModel(4, 0, {0.25, 0.25, 0.25, 0.25}));  // overlap .8
  constexpr std::size_t gamma = 5;
  const auto distribution = [](double alpha) {
    std::array<double, gamma + 1> lengths{};
    double reached = 1;
    for (std::size_t k = 0; k < gamma; ++k, reached *= alpha) lengths[k] = reached * (1 - alpha);
    lengths[gamma] = reached;
    return lengths;
  };
  SimulationSize plan;
  plan.seed = test_seed(5);
  plan.length = 40000;
  const FastPair pair(p, q, AnyRule(TokenRule{}));
  const Tally total = pair.decode(gamma, plan).total();
  CHECK(fit_test(total.accepted_lengths, distribution(0.8)).p() > p_value_bound);
  CHECK(fit_test(total.accepted_lengths, distribution(0.805)).p() < p_value_bound);
  const PlannedTest planned = planned_fit_test(distribution(0.805), distribution(0.8), total.rounds);
  CHECK(power_of(planned.effect, planned.degrees, planned.samples, p_value_bound) > 1 - 1e-9);
}

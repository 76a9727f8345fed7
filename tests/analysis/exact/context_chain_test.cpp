#include "analysis/exact/context_chain.hpp"

#include "analysis/exact/enumeration_program.hpp"
#include "analysis/exact/transitions.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include "analysis/exact/chain_distributions.hpp"
#include "analysis/exact/round_distribution.hpp"
#include "analysis/theory/theorems.hpp"
#include "sim/compiled_rule.hpp"
#include "sim/decode.hpp"
#include "sim/models/synthetic.hpp"
#include "sim/models/table_model.hpp"
#include "tests/bounds.hpp"
#include "tests/core/rules/all_rules.hpp"

using namespace speclab;

namespace {

constexpr double rounding = 1e-12;

struct Pair {
  TableModel target;
  TableModel draft;
};

std::uint32_t rows_of(std::int32_t vocab, std::int32_t order) {
  std::uint32_t rows = 1;
  for (std::int32_t i = 0; i < order; ++i) rows *= static_cast<std::uint32_t>(vocab);
  return rows;
}

TableModel random_table(std::int32_t vocab, std::int32_t order, double concentration, std::uint64_t seed) {
  return {vocab, order, dirichlet_rows(vocab, rows_of(vocab, order), concentration, seed)};
}

/// Returns different pairs: spiky and flat, independent and mixed, of different orders, and with zeros in
/// rows.
std::vector<Pair> pairs() {
  const TableModel spiky = random_table(4, 1, 0.3, 1);
  const TableModel flat = random_table(4, 1, 3, 2);
  return {{spiky, random_table(4, 1, 0.3, 5)},
          {spiky, flat},
          {flat, mixed(flat, spiky, 0.3)},
          {spiky, mixed(spiky, TableModel(4, 0, uniform_row(4)), 0.5)},
          {flat, random_table(4, 0, 1, 3)},
          {TableModel(3, 1, {5, 3, 2, 0, 4, 6, 2, 2, 6}), TableModel(3, 1, {1, 3, 6, 7, 0, 3, 2, 2, 6})}};
}

template <class Rule = TokenRule>
ContextChain chain_of(const TableModel& target, const TableModel& draft, const Rule& rule = {},
                      std::vector<std::vector<Token>> prompts = {{0}}, const ChainLimits& limits = {}) {
  ChainBuilder builder(std::max(target.order(), draft.order()), prompts, limits);
  std::vector<double> scratch;
  PositionDistribution distribution;
  while (builder.unfinished()) {
    describe_position(rule, target.next(builder.context(), scratch), draft.next(builder.context(), scratch),
                      distribution);
    builder.add(distribution);
  }
  return std::move(builder).take();
}

std::vector<double> point(const ContextChain& chain, std::int32_t context) {
  std::vector<double> distribution(chain.contexts.size());
  distribution[static_cast<std::size_t>(context)] = 1;
  return distribution;
}

StationaryDistribution rounds_from_start(const ContextChain& chain, int gamma) {
  return stationary_rounds(chain, gamma, point(chain, 0));
}

double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  REQUIRE(a.size() == b.size());
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(a[i] - b[i]));
  return largest;
}

/// The results of enumeration for one round from every context.
struct Enumerated {
  std::vector<double> tokens;                     // E[N | x]
  std::vector<std::vector<double>> distribution;  // distribution[x][n - 1] = P(N = n | x)
  std::vector<std::vector<double>> successor;     // row x of K
};

template <class Rule>
Enumerated enumerated(const ContextChain& chain, const Pair& pair, const Rule& rule, int gamma) {
  const auto memory = static_cast<std::size_t>(std::max(pair.target.order(), pair.draft.order()));
  Enumerated out;
  for (const std::vector<Token>& context : chain.contexts) {
    const RoundDistribution<double> distribution =
        round_distribution<double>(pair.target, pair.draft, rule, gamma, context);
    out.tokens.push_back(distribution.expected_tokens);
    out.distribution.push_back(distribution.accepted);
    std::vector<double>& row = out.successor.emplace_back(chain.contexts.size());
    for (const auto& [emitted, probability] : distribution.emitted) {
      std::vector<Token> after = context;
      after.insert(after.end(), emitted.begin(), emitted.end());
      if (after.size() > memory)
        after.erase(after.begin(), after.end() - static_cast<std::ptrdiff_t>(memory));
      const auto place = std::find(chain.contexts.begin(), chain.contexts.end(), after);
      REQUIRE(place != chain.contexts.end());
      row[static_cast<std::size_t>(place - chain.contexts.begin())] += probability;
    }
  }
  return out;
}

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

template <class Rule>
void check_against_enumeration(const Pair& pair, const Rule& rule, int gamma) {
  const ContextChain chain = chain_of(pair.target, pair.draft, rule);
  const Enumerated other = enumerated(chain, pair, rule, gamma);
  CHECK(largest_difference(expected_tokens_by_context(chain, gamma), other.tokens) < rounding);
  for (std::int32_t x = 0; x < chain.size(); ++x) {
    const auto row = static_cast<std::size_t>(x);
    CHECK(largest_difference(after_round(chain, gamma, point(chain, x)), other.successor[row]) < rounding);
    CHECK(largest_difference(round_statistics(chain, gamma, point(chain, x)).distribution,
                             other.distribution[row]) < rounding);
  }
  const StationaryDistribution stationary = rounds_from_start(chain, gamma);
  CHECK(stationary.converged);
  const RoundStatistics found = round_statistics(chain, gamma, stationary.distribution);
  CHECK(found.expected_tokens ==
        doctest::Approx(dot(stationary.distribution, other.tokens)).epsilon(rounding));
  // The distribution is stationary under enumeration's own matrix.
  std::vector<double> after(stationary.distribution.size());
  for (std::size_t x = 0; x < after.size(); ++x) {
    for (std::size_t y = 0; y < after.size(); ++y)
      after[y] += stationary.distribution[x] * other.successor[x][y];
  }
  CHECK(largest_difference(after, stationary.distribution) < rounding);
  std::vector<double> distribution(other.distribution.front().size());
  double mean = 0;
  double square = 0;
  for (std::size_t n = 0; n < distribution.size(); ++n) {
    for (std::size_t x = 0; x < after.size(); ++x)
      distribution[n] += stationary.distribution[x] * other.distribution[x][n];
    const auto tokens = static_cast<double>(n + 1);
    mean += tokens * distribution[n];
    square += tokens * tokens * distribution[n];
  }
  CHECK(largest_difference(found.distribution, distribution) < rounding);
  CHECK(found.variance == doctest::Approx(square - mean * mean).epsilon(1e-10));
}

}  // namespace

TEST_CASE("every context's law of N, and every row of K, are those of enumeration") {
  for (const Pair& pair : pairs()) {
    for (const int gamma : {0, 1, 2, 4}) {
      CAPTURE(gamma);
      check_against_enumeration(pair, TokenRule{}, gamma);
    }
  }
}

TEST_CASE("so they are for every rule that decides position by position, faults included") {
  const Pair pair = pairs()[1];
  int checked = 0;
  const auto check = [&]<class Rule>(const Rule& rule) {
    if constexpr (PositionRule<Rule>) {
      check_against_enumeration(pair, rule, 3);
      ++checked;
    }
  };
  const auto check_all = [&]<class... Rules>(const Rules&... rules) { (check(rules), ...); };
  check_all(TokenRule{}, MatchRule{}, GumbelRule{}, RejectionRule{}, GreedyRule{}, LenienceRule{},
            GreedyLenienceRule{}, TypicalRule{}, CascadeRule{}, SigmoidRule{}, AcceptAllFault{},
            ResampleTargetFault{}, SwappedResidualFault{}, SharedNoiseFault{}, ClosedComparisonFault{});
  CHECK(checked == 15);
  static_assert(!PositionRule<BlockRule> && !PositionRule<TreeRule> && !PositionRule<StepFault>);
  check(LenienceRule{0.5, Residual::target_minus_draft});
  check(LenienceRule{0.5, Residual::literal});
  check(GreedyLenienceRule{0.5});
  check(GreedyLenienceRule(0, 0.2, 2));
  check(MatchRule(0.5, 0.4));
}

TEST_CASE("the chain of any rule is the one of the rule itself; a rule of whole blocks has none") {
  const Pair pair = pairs()[1];
  const std::vector<std::vector<Token>> prompts{{0}};
  const ContextChain direct = chain_of(pair.target, pair.draft, GreedyLenienceRule{0.5});
  const ContextChain any = build_context_chain(pair.target, pair.draft, GreedyLenienceRule{0.5}, 1, prompts);
  CHECK(any.contexts == direct.contexts);
  CHECK(largest_difference(any.rejection, direct.rejection) == 0);
  CHECK(largest_difference(any.distance, direct.distance) == 0);
  CHECK(EnumerableRule(TokenRule{})->decides_by_position());
  CHECK_FALSE(EnumerableRule(BlockRule{})->decides_by_position());
  CHECK_THROWS_AS(build_context_chain(pair.target, pair.draft, BlockRule{}, 1, prompts), std::logic_error);
}

TEST_CASE("order 2, contexts shorter than the memory, and models of different orders") {
  const Pair pair{random_table(3, 2, 0.5, 7), random_table(3, 1, 0.5, 8)};
  check_against_enumeration(pair, TokenRule{}, 3);
  const ContextChain chain = chain_of(pair.target, pair.draft, TokenRule{}, {{}});
  CHECK(chain.size() == 1 + 3 + 9);
  CHECK(chain.contexts[0].empty());
  CHECK(chain.starts == std::vector<std::int32_t>{0});
  CHECK(chain.transitions == 3 * 13);
  const Transitions* graph = &chain.plain();
  const auto classes = closed_classes({&graph, 1});
  REQUIRE(classes.size() == 1);
  CHECK(classes[0].size() == 9);
  check_against_enumeration({random_table(3, 1, 0.5, 7), random_table(3, 2, 0.5, 8)}, TokenRule{}, 2);
}

TEST_CASE("the third witness: simulation") {
  // Null: the mean of N over the plan's rounds is the chain's value for its start. Rounds are correlated, so
  // trials are the samples; false alarm 2.6e-12 each. Power: standard errors are below 0.1% of E, so that an
  // error of 1.2% is found with probability 1 - 3e-7; where Eq. 1 is off by that much, it must be rejected.
  constexpr int gamma = 3;
  const SimulationSize plan{.seed = 11, .trials = 2000, .length = 200, .prompts = {{0}}, .batches = 2000};
  int far_formulas = 0;
  for (const Pair& pair : pairs()) {
    const Outcome outcome =
        decode_speculatively(Model(pair.target), Model(pair.draft), TokenRule{}, gamma, plan);
    std::vector<double> means;
    for (const Tally& trial : outcome.batches) {
      means.push_back(static_cast<double>(trial.emitted) / static_cast<double>(trial.rounds));
    }
    const auto count = static_cast<double>(means.size());
    const double mean = std::accumulate(means.begin(), means.end(), 0.0) / count;
    double square = 0;
    for (const double value : means) square += (value - mean) * (value - mean);
    const double deviation = std::sqrt(square / (count - 1));

    const ContextChain chain = chain_of(pair.target, pair.draft);
    const auto expected = expected_tokens_over(chain, gamma, point(chain, 0), plan.length);
    REQUIRE(expected);
    CHECK(mean_agrees(mean, *expected, deviation, count));
    const StationaryDistribution own = stationary_plain(chain, point(chain, 0));
    const double formula = expected_tokens(mean_acceptance(chain, own.distribution), gamma);
    if (std::abs(formula / *expected - 1) < 0.012) continue;
    ++far_formulas;
    CHECK(deviation / std::sqrt(count) < 0.001 * *expected);
    CHECK_FALSE(mean_agrees(mean, formula, deviation, count));
  }
  CHECK(far_formulas == 2);
}

TEST_CASE("a faulty rule has another chain, and the difference is visible") {
  const Pair pair = pairs()[1];
  constexpr int gamma = 3;
  const ContextChain token = chain_of(pair.target, pair.draft);
  const double honest =
      round_statistics(token, gamma, rounds_from_start(token, gamma).distribution).expected_tokens;
  const ContextChain all = chain_of(pair.target, pair.draft, AcceptAllFault{});
  CHECK(round_statistics(all, gamma, rounds_from_start(all, gamma).distribution).expected_tokens ==
        doctest::Approx(gamma + 1).epsilon(rounding));
  const ContextChain again = chain_of(pair.target, pair.draft, ResampleTargetFault{});
  const RoundStatistics resampled =
      round_statistics(again, gamma, rounds_from_start(again, gamma).distribution);
  CHECK(std::abs(resampled.expected_tokens - honest) > 1e-3);
}

TEST_CASE("under token verification alpha over visited contexts is that of plain decoding (Cor. 3.6)") {
  for (const Pair& pair : pairs()) {
    const ContextChain chain = chain_of(pair.target, pair.draft);
    const double alpha = mean_acceptance(chain, stationary_plain(chain, point(chain, 0)).distribution);
    for (const int gamma : {1, 4}) {
      const RoundStatistics found =
          round_statistics(chain, gamma, rounds_from_start(chain, gamma).distribution);
      CHECK(found.alpha_visited == doctest::Approx(alpha).epsilon(1e-11));
      REQUIRE(found.regret());
      CHECK(std::abs(*found.regret()) < rounding);
    }
  }
}

TEST_CASE("rules that accept less than token verification regret it; lossy ones can go below") {
  const Pair pair = pairs()[1];
  struct HalfAcceptance : TokenRule {
    double acceptance(Token token, Row target, Row draft) const {
      return TokenRule::acceptance(token, target, draft) / 2;
    }
  };
  const auto regret = [&](const auto& rule) {
    const ContextChain chain = chain_of(pair.target, pair.draft, rule);
    return *round_statistics(chain, 2, rounds_from_start(chain, 2).distribution).regret();
  };
  CHECK(regret(HalfAcceptance{}) > 0.1);
  CHECK(regret(LenienceRule{0.5, Residual::target_minus_draft}) < -0.01);
}

TEST_CASE("a coupling rule is read from the weights of the emitted token") {
  const TableModel target(3, 0, {0.5, 0.3, 0.2});
  const TableModel draft(3, 0, {0.1, 0.3, 0.6});
  const ContextChain chain = chain_of(target, draft, MatchRule{});
  CHECK(mean_acceptance(chain, std::vector<double>{1}) == doctest::Approx(0.26).epsilon(rounding));

  // With memory, M + J is the target's row for any acceptance.
  const Pair pair = pairs()[1];
  const ContextChain with_memory = chain_of(pair.target, pair.draft, MatchRule{});
  CHECK_FALSE(with_memory.other_plain);  // so that a round without drafts is one token without speculation
  for (std::int32_t x = 0; x < with_memory.size(); ++x) {
    CHECK(largest_difference(after_round(with_memory, 1, point(with_memory, x)),
                             after_round(with_memory, 0, point(with_memory, x))) > 1e-3);
    std::vector<double> room;
    const auto& context = with_memory.contexts[static_cast<std::size_t>(x)];
    PositionDistribution distribution;
    describe_position(MatchRule{}, pair.target.next(context, room), pair.draft.next(context, room),
                      distribution);
    for (std::size_t id = 0; id < distribution.plain.size(); ++id) {
      CHECK(distribution.accepted[id] + distribution.corrected[id] ==
            doctest::Approx(distribution.plain[id]).epsilon(rounding));
    }
  }
}

TEST_CASE("without memory the chain is Eq. 1 and its variance") {
  const TableModel target(5, 0, zipf_row(5, 1, false));
  const TableModel draft(5, 0, zipf_row(5, 1, true));
  const ContextChain chain = chain_of(target, draft);
  CHECK(chain.size() == 1);
  const double alpha = mean_acceptance(chain, std::vector<double>{1});
  for (const int gamma : {0, 1, 5, 12}) {
    const StationaryDistribution stationary = rounds_from_start(chain, gamma);
    CHECK(stationary.direct);
    const RoundStatistics found = round_statistics(chain, gamma, stationary.distribution);
    CHECK(found.expected_tokens == doctest::Approx(expected_tokens(alpha, gamma)).epsilon(1e-14));
    CHECK(found.variance == doctest::Approx(tokens_variance(alpha, gamma)).epsilon(1e-13));
    REQUIRE(found.relative_gain);
    CHECK(std::abs(*found.relative_gain) < 1e-14);
  }
}

TEST_CASE("the first-order model is exact where acceptance depends on the last acceptance alone") {
  // Token 0 is always drafted, and accepted with 0.9 after a 0 and with 0.3 after a 1: whatever came before,
  // an accepted token leaves the context 0.
  const TableModel target(2, 1, {0.9, 0.1, 0.3, 0.7});
  const TableModel draft(2, 1, {1, 0, 1, 0});
  const ContextChain chain = chain_of(target, draft);
  for (const int gamma : {1, 2, 6}) {
    const RoundStatistics found =
        round_statistics(chain, gamma, rounds_from_start(chain, gamma).distribution);
    REQUIRE(found.relative_gain);
    CHECK(*found.second_accepted == doctest::Approx(0.9).epsilon(rounding));
    // Every later acceptance has the second one's probability.
    const double later = *found.second_accepted;
    const double tokens = 1 + found.first_accepted * (1 - std::pow(later, gamma)) / (1 - later);
    CHECK(tokens == doctest::Approx(found.expected_tokens).epsilon(rounding));
  }
}

TEST_CASE("a periodic chain settles") {
  // Tokens run 0 -> {1, 2} -> 0: the target has period 2, and so have rounds of a perfect draft with gamma =
  // 1, while a draft that misses half the time makes rounds aperiodic.
  const TableModel target(3, 1, {0, 0.5, 0.5, 1, 0, 0, 1, 0, 0});
  const TableModel draft(3, 1, {0, 1, 0, 1, 0, 0, 1, 0, 0});
  const ContextChain chain = chain_of(target, draft);
  const StationaryDistribution plain = stationary_plain(chain, point(chain, 0));
  CHECK(plain.converged);
  CHECK(plain.direct);
  CHECK(plain.distribution[0] == doctest::Approx(0.5).epsilon(1e-14));
  const StationaryDistribution rounds = rounds_from_start(chain, 2);
  CHECK(rounds.converged);
  CHECK(largest_difference(after_round(chain, 2, rounds.distribution), rounds.distribution) < rounding);

  // With a perfect draft and gamma + 1 = the period, all rounds start from the same context.
  const ContextChain perfect = chain_of(target, target);
  const StationaryDistribution from_zero = stationary_rounds(perfect, 1, point(perfect, 0));
  CHECK(from_zero.converged);
  CHECK(from_zero.distribution[0] == doctest::Approx(1).epsilon(rounding));
}

TEST_CASE("a periodic chain that is too large for the direct solution settles by iteration") {
  constexpr std::int32_t vocab = max_direct_states + 2;
  std::vector<double> cycle(static_cast<std::size_t>(vocab) * vocab);
  for (std::int32_t i = 0; i < vocab; ++i) {
    // Even ids lead to the two next odd ids, odd ids to the next even one: the period is 2.
    const auto row = static_cast<std::size_t>(i) * vocab;
    cycle[row + static_cast<std::size_t>((i + 1) % vocab)] = 0.5;
    cycle[row + static_cast<std::size_t>((i * 7 + 3) % vocab % 2 == i % 2 ? (i + 3) % vocab
                                                                          : (i * 7 + 3) % vocab)] += 0.5;
  }
  const TableModel model(vocab, 1, cycle);
  const ContextChain chain = chain_of(model, model);
  const StationaryDistribution plain = stationary_plain(chain, point(chain, 0));
  CHECK_FALSE(plain.direct);
  CHECK(plain.damped);
  CHECK(plain.converged);
  CHECK(plain.error < 1e-9);
  CHECK_FALSE(chain.other_plain);  // so that a round without drafts is one token without speculation
  CHECK(largest_difference(after_round(chain, 0, plain.distribution), plain.distribution) < 1e-12);
}

TEST_CASE("bounds of the long-run tokens hold them, and meet where rounds forget their start") {
  const TableModel target(3, 1, {0.2, 0.5, 0.3, 0.6, 0.2, 0.2, 0.1, 0.1, 0.8});
  const TableModel draft(3, 1, {0.3, 0.4, 0.3, 0.2, 0.6, 0.2, 0.3, 0.3, 0.4});
  const ContextChain chain = chain_of(target, draft);
  const double exact = round_statistics(chain, 3, rounds_from_start(chain, 3).distribution).expected_tokens;
  const TokenBounds bounds = expected_tokens_bounds(chain, 3, {0, 1, 2});
  CHECK(bounds.least <= exact + 1e-12);
  CHECK(bounds.most >= exact - 1e-12);
  CHECK(bounds.most - bounds.least < 1e-12);
  // Two parts hardly ever communicate: the bounds are those of the two parts.
  const TableModel apart(2, 1, {1 - 1e-9, 1e-9, 1e-9, 1 - 1e-9});
  const TableModel half(2, 1, {0.5, 0.5, 0, 1});
  const TokenBounds wide = expected_tokens_bounds(chain_of(apart, half), 1, {0, 1});
  CHECK(wide.least == doctest::Approx(1.5).epsilon(1e-5));
  CHECK(wide.most == doctest::Approx(2).epsilon(1e-5));
}

TEST_CASE("closed classes are found, and transient contexts belong to none") {
  // 0 leads to {1, 2} and to {3}; 1 and 2 alternate; 3 stays.
  const TableModel target(4, 1, {0.2, 0.4, 0, 0.4, 0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 1});
  const ContextChain chain = chain_of(target, TableModel(4, 0, uniform_row(4)));
  const Transitions* graph = &chain.plain();
  const auto classes = closed_classes({&graph, 1});
  REQUIRE(classes.size() == 2);
  const auto tokens = [&](const ClosedClass& members) {
    std::vector<Token> last;
    for (const std::int32_t x : members) last.push_back(chain.contexts[static_cast<std::size_t>(x)].back());
    std::sort(last.begin(), last.end());
    return last;
  };
  CHECK(tokens(classes[0]) == std::vector<Token>{1, 2});
  CHECK(tokens(classes[1]) == std::vector<Token>{3});
}

TEST_CASE("dense and sparse storage agree") {
  const TableModel target = random_table(40, 1, 0.3, 1);
  const TableModel draft = mixed(target, random_table(40, 1, 0.3, 2), 0.4);
  const ContextChain dense = chain_of(target, draft, TokenRule{}, {{0}}, {.dense_above = 0.1});
  const ContextChain sparse = chain_of(target, draft, TokenRule{}, {{0}}, {.dense_above = 2});
  CHECK(dense.accepted.dense);
  CHECK(dense.corrected.dense);
  CHECK_FALSE(sparse.bonus.dense);
  const StationaryDistribution a = rounds_from_start(dense, 5);
  const StationaryDistribution b = rounds_from_start(sparse, 5);
  CHECK(largest_difference(a.distribution, b.distribution) < rounding);
  CHECK(round_statistics(dense, 5, a.distribution).expected_tokens ==
        doctest::Approx(round_statistics(sparse, 5, b.distribution).expected_tokens).epsilon(rounding));
  CHECK(largest_difference(expected_tokens_by_context(dense, 5), expected_tokens_by_context(sparse, 5)) <
        rounding);
}

TEST_CASE("chains that are too large are refused with their numbers and a remedy") {
  const TableModel target = random_table(10, 2, 0.5, 1);
  const auto message = [&](const ChainLimits& limits) -> std::string {
    try {
      chain_of(target, target, TokenRule{}, {{}}, limits);
    } catch (const ChainError& error) {
      return error.what();
    }
    return "";
  };
  CHECK(message({}).empty());
  const std::string contexts = message({.contexts = 50});
  CHECK(contexts.find("more than 50 contexts of 2 tokens") != std::string::npos);
  CHECK(contexts.find("top_k") != std::string::npos);
  const std::string transitions = message({.transitions = 1000});
  CHECK(transitions.find("more than 1,000 transitions") != std::string::npos);
  CHECK(transitions.find("111 contexts") != std::string::npos);
}

TEST_CASE("a damaged row is reported, not counted") {
  struct Invalid {
    std::int32_t vocab() const { return 2; }
    Row next(std::span<const Token>, std::vector<double>& room) const {
      room = {0.5, std::nan("")};
      return {room.data(), 2};
    }
  };
  const std::vector<std::vector<Token>> prompts{{}};
  CHECK_THROWS_AS(build_context_chain(Invalid{}, Invalid{}, TokenRule{}, 0, prompts), ChainError);
}

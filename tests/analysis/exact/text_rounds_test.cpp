// Tests exact tokens per target step from the text's distribution against two other methods: the chain over
// contexts, for rules that decide by position, and enumeration of rounds draw by draw, for all rules.
#include "analysis/exact/text_rounds.hpp"

#include "analysis/exact/enumeration_program.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "analysis/exact/chain_distributions.hpp"
#include "analysis/exact/direct_stationary.hpp"
#include "analysis/exact/round_distribution.hpp"
#include "analysis/theory/theorems.hpp"
#include "core/rules/all_rules.hpp"
#include "sim/models/synthetic.hpp"
#include "sim/models/table_model.hpp"

using namespace speclab;

namespace {

struct Pair {
  TableModel target;
  TableModel draft;
};

TableModel random_rows(std::int32_t vocab, std::int32_t order, double concentration, std::uint64_t seed) {
  const auto rows = static_cast<std::uint32_t>(std::lround(std::pow(vocab, order)));
  return {vocab, order, dirichlet_rows(vocab, rows, concentration, seed)};
}

/// Returns pairs of different orders, with zeros in rows, a target at temperature 0 and an argmax draft.
std::vector<Pair> random_pairs() {
  std::vector<Pair> all;
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    const auto vocab = static_cast<std::int32_t>(2 + seed % 3);
    const auto order = static_cast<std::int32_t>(seed % 3);
    const Pair pair{random_rows(vocab, order, 0.7, seed),
                    random_rows(vocab, static_cast<std::int32_t>(seed / 2 % 2), 0.9, 100 + seed)};
    all.push_back(pair);
    all.push_back({adjusted(pair.target, {.top_k = 2}), adjusted(pair.draft, {.temperature = 0})});
    all.push_back({adjusted(pair.target, {.temperature = 0}), pair.draft});
  }
  return all;
}

/// All contexts of the order's tokens, and the rows after them.
struct Known {
  TextChain chain;
  std::vector<double> target;
  std::vector<double> draft;
};

Known known_of(const Pair& pair) {
  Known known;
  const std::int32_t order = std::max(pair.target.order(), pair.draft.order());
  const auto vocab = static_cast<std::size_t>(pair.target.vocab());
  const auto contexts = static_cast<std::size_t>(std::lround(std::pow(vocab, order)));
  known.chain.vocab = pair.target.vocab();
  known.chain.start.assign(contexts, 0);
  known.chain.start[0] = 1;  // tokens before a text count as token 0
  for (std::size_t x = 0; x < contexts; ++x) {
    for (const TableModel* model : {&pair.target, &pair.draft}) {
      const Row row = model->row(x % model->contexts());
      std::vector<double>& into = model == &pair.target ? known.target : known.draft;
      into.insert(into.end(), row.probabilities, row.probabilities + row.size);
    }
    for (std::size_t token = 0; token < vocab; ++token)
      known.chain.successor.push_back(static_cast<std::int32_t>((x * vocab + token) % contexts));
  }
  return known;
}

std::vector<Token> tokens_of(std::size_t context, std::int32_t order, std::size_t vocab) {
  std::vector<Token> tokens(static_cast<std::size_t>(order));
  for (auto place = tokens.rbegin(); place != tokens.rend(); ++place, context /= vocab)
    *place = static_cast<Token>(context % vocab);
  return tokens;
}

/// Returns long-run tokens per round, from the distribution of each context's round, draw by draw.
template <class Rule>
double enumerated(const Pair& pair, const Rule& rule, int gamma) {
  const std::int32_t order = std::max(pair.target.order(), pair.draft.order());
  const auto vocab = static_cast<std::size_t>(pair.target.vocab());
  const std::size_t contexts = known_of(pair).chain.contexts();
  Transitions rounds;
  rounds.contexts = static_cast<std::int32_t>(contexts);
  rounds.dense = true;
  rounds.probabilities.assign(contexts * contexts, 0);
  std::vector<double> emitted;
  for (std::size_t x = 0; x < contexts; ++x) {
    const auto law =
        round_distribution<double>(pair.target, pair.draft, rule, gamma, tokens_of(x, order, vocab));
    emitted.push_back(law.expected_tokens);
    for (const auto& [tokens, probability] : law.emitted) {
      std::size_t at = x;
      for (const Token token : tokens) at = (at * vocab + static_cast<std::size_t>(token)) % contexts;
      rounds.probabilities[x * contexts + at] += probability;
    }
  }
  std::vector<double> start(contexts, 0);
  start[0] = 1;
  const std::vector<double> shares = direct_stationary(std::move(rounds), start);
  double tokens = 0;
  for (std::size_t x = 0; x < contexts; ++x) tokens += shares[x] * emitted[x];
  return tokens;
}

/// Returns the target steps of a text of `tokens` tokens after context 0, from the same distributions.
template <class Rule>
double enumerated_steps(const Pair& pair, const Rule& rule, int gamma, std::size_t tokens) {
  const std::int32_t order = std::max(pair.target.order(), pair.draft.order());
  const auto vocab = static_cast<std::size_t>(pair.target.vocab());
  const std::size_t contexts = known_of(pair).chain.contexts();
  std::vector<std::vector<double>> steps(tokens + 1, std::vector<double>(contexts, 1));
  steps[0].assign(contexts, 0);
  std::vector<SequenceDistribution<double>> laws;
  for (std::size_t x = 0; x < contexts; ++x)
    laws.push_back(
        round_distribution<double>(pair.target, pair.draft, rule, gamma, tokens_of(x, order, vocab)).emitted);
  for (std::size_t left = 1; left <= tokens; ++left) {
    for (std::size_t x = 0; x < contexts; ++x) {
      for (const auto& [emitted, probability] : laws[x]) {
        if (emitted.size() >= left) continue;
        std::size_t at = x;
        for (const Token token : emitted) at = (at * vocab + static_cast<std::size_t>(token)) % contexts;
        steps[left][x] += probability * steps[left - emitted.size()][at];
      }
    }
  }
  return steps[tokens][0];
}

template <class Rule>
RoundStatistics by_chain(const Pair& pair, const Rule& rule, int gamma) {
  const std::int32_t order = std::max(pair.target.order(), pair.draft.order());
  const std::vector<std::vector<Token>> prompts{std::vector<Token>(static_cast<std::size_t>(order), 0)};
  const ContextChain chain = build_context_chain(ModelRef<double>(pair.target), ModelRef<double>(pair.draft),
                                                 EnumerableRule(rule), order, prompts);
  std::vector<double> start(chain.contexts.size(), 0);
  start[static_cast<std::size_t>(chain.starts.front())] = 1;
  return round_statistics(chain, gamma, stationary_rounds(chain, gamma, start).distribution);
}

constexpr double rounding_bound = 1e-10;

}  // namespace

TEST_CASE("exact match, token and block verification take as many rounds as enumerated draw by draw") {
  for (const Pair& pair : random_pairs()) {
    const Known known = known_of(pair);
    for (const int gamma : {1, 2, 3}) {
      const auto tokens = [&](TextRule rule) {
        return tokens_per_round(known.chain, known.target, known.draft, rule, gamma);
      };
      CHECK(tokens(TextRule::match) ==
            doctest::Approx(enumerated(pair, MatchRule{}, gamma)).epsilon(rounding_bound));
      CHECK(tokens(TextRule::token) ==
            doctest::Approx(enumerated(pair, TokenRule{}, gamma)).epsilon(rounding_bound));
      CHECK(tokens(TextRule::block) ==
            doctest::Approx(enumerated(pair, BlockRule{}, gamma)).epsilon(rounding_bound));
      CHECK(tokens(TextRule::block) >= tokens(TextRule::token) * (1 - rounding_bound));
    }
  }
}

TEST_CASE("a text of so many tokens takes as many steps as rounds that are enumerated draw by draw") {
  for (const Pair& pair : random_pairs()) {
    const Known known = known_of(pair);
    for (const int gamma : {1, 3}) {
      for (const int tokens : {0, 1, 2, 5, 40}) {
        const auto steps = [&](TextRule rule) {
          return expected_steps(known.chain, known.target, known.draft, rule, gamma, tokens)[0];
        };
        const auto count = static_cast<std::size_t>(tokens);
        CHECK(steps(TextRule::match) ==
              doctest::Approx(enumerated_steps(pair, MatchRule{}, gamma, count)).epsilon(rounding_bound));
        CHECK(steps(TextRule::token) ==
              doctest::Approx(enumerated_steps(pair, TokenRule{}, gamma, count)).epsilon(rounding_bound));
        CHECK(steps(TextRule::block) ==
              doctest::Approx(enumerated_steps(pair, BlockRule{}, gamma, count)).epsilon(rounding_bound));
      }
    }
  }
}

TEST_CASE("exact match and token verification agree with the chain over contexts") {
  for (const Pair& pair : random_pairs()) {
    const Known known = known_of(pair);
    const int gamma = 4;
    const auto tokens = [&](TextRule rule) {
      return tokens_per_round(known.chain, known.target, known.draft, rule, gamma);
    };
    CHECK(tokens(TextRule::match) ==
          doctest::Approx(by_chain(pair, MatchRule{}, gamma).expected_tokens).epsilon(rounding_bound));
    CHECK(tokens(TextRule::token) ==
          doctest::Approx(by_chain(pair, TokenRule{}, gamma).expected_tokens).epsilon(rounding_bound));
  }
}

TEST_CASE("without context, tokens per target step are Equation 1's, and block verification is above it") {
  const Pair pair{TableModel(3, 0, {5, 3, 2}), TableModel(3, 0, {4, 5, 1})};
  const Known known = known_of(pair);
  CHECK(text_shares(known.chain, known.target) == std::vector<double>{1});
  for (const int gamma : {1, 5, 8}) {
    CHECK(tokens_per_round(known.chain, known.target, known.draft, TextRule::token, gamma) ==
          doctest::Approx(expected_tokens(0.8, gamma)));
    CHECK(tokens_per_round(known.chain, known.target, known.draft, TextRule::match, gamma) ==
          doctest::Approx(expected_tokens(0.5 * 0.4 + 0.3 * 0.5 + 0.2 * 0.1, gamma)));
  }
  CHECK(tokens_per_round(known.chain, known.target, known.draft, TextRule::block, 5) > 4.1);
}

TEST_CASE("shares of contexts are those of plain decoding") {
  // There are two states: 0 stays with .9, 1 with .6; in the long run 0 has .4 / (.1 + .4).
  const Pair pair{TableModel(2, 1, {9, 1, 4, 6}), TableModel(2, 1, {1, 1, 1, 1})};
  const Known known = known_of(pair);
  const std::vector<double> shares = text_shares(known.chain, known.target);
  CHECK(shares[0] == doctest::Approx(0.8));
  CHECK(shares[1] == doctest::Approx(0.2));
}

// Tests exact target steps from the text's distribution against enumeration of rounds draw by draw.
#include "analysis/exact/text_rounds.hpp"

#include "analysis/exact/enumeration_program.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "analysis/exact/round_distribution.hpp"
#include "analysis/theory/theorems.hpp"
#include "sim/models/synthetic.hpp"
#include "sim/models/table_model.hpp"
#include "tests/core/rules/all_rules.hpp"

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

constexpr double rounding_bound = 1e-10;

}  // namespace

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

TEST_CASE("without context, a long text takes the tokens per target step of Equation 1") {
  const Pair pair{TableModel(3, 0, {5, 3, 2}), TableModel(3, 0, {4, 5, 1})};
  const Known known = known_of(pair);
  for (const int gamma : {1, 5, 8}) {
    // The difference of two lengths leaves out the last round, which is cut.
    const auto tokens = [&](TextRule rule) {
      const auto steps = [&](int length) {
        return expected_steps(known.chain, known.target, known.draft, rule, gamma, length)[0];
      };
      return 500 / (steps(1000) - steps(500));
    };
    CHECK(tokens(TextRule::token) == doctest::Approx(expected_tokens(0.8, gamma)).epsilon(rounding_bound));
    CHECK(tokens(TextRule::match) ==
          doctest::Approx(expected_tokens(0.5 * 0.4 + 0.3 * 0.5 + 0.2 * 0.1, gamma)).epsilon(rounding_bound));
    CHECK(tokens(TextRule::block) >= tokens(TextRule::token) * (1 - rounding_bound));
  }
}

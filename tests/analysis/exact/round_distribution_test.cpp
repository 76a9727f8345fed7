#include "analysis/exact/round_distribution.hpp"
#include "analysis/exact/rational.hpp"
#include "tests/core/rules/all_rules.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "analysis/theory/theorems.hpp"
#include "core/distribution/divergence.hpp"

using namespace speclab;

namespace {

/// Returns a row given in tenths.
template <class Real>
std::vector<Real> tenths(const std::vector<int>& probabilities) {
  std::vector<Real> row;
  row.reserve(probabilities.size());
  for (const int probability : probabilities) row.push_back(Real(probability) / Real(10));
  return row;
}

template <class Real>
ExactTable<Real> table(const std::vector<std::vector<int>>& rows) {
  std::vector<std::vector<Real>> probabilities;
  probabilities.reserve(rows.size());
  for (const auto& row : rows) probabilities.push_back(tenths<Real>(row));
  return ExactTable<Real>(probabilities);
}

Rational hundredths(int n) { return Rational(n) / 100; }

// The golden vector: overlap 3/5, total variation 2/5.
const std::vector<std::vector<int>> golden_target{{5, 3, 2}};
const std::vector<std::vector<int>> golden_draft{{1, 3, 6}};
// Chains of order 1, with zeros on both sides, an identical row and a draft that misses the target's support.
const std::vector<std::vector<int>> chain_target{{5, 3, 2}, {0, 4, 6}, {2, 2, 6}};
const std::vector<std::vector<int>> chain_draft{{1, 3, 6}, {7, 0, 3}, {2, 2, 6}};

template <class Rule>
Rational first_token_distance(const Rule& rule) {
  const auto target = table<Rational>(golden_target);
  const auto draft = table<Rational>(golden_draft);
  return distribution_distance(sequence_distribution<Rational>(target, draft, rule, 1, {}, 1),
                               plain_distribution<Rational>(target, {}, 1));
}

template <class Rule>
Rational sequence_distance(const Rule& rule, const std::vector<std::vector<int>>& target_rows,
                           const std::vector<std::vector<int>>& draft_rows, std::int32_t gamma,
                           std::size_t length) {
  const auto target = table<Rational>(target_rows);
  const auto draft = table<Rational>(draft_rows);
  const std::vector<Token> context{1};
  return distribution_distance(sequence_distribution<Rational>(target, draft, rule, gamma, context, length),
                               plain_distribution<Rational>(target, context, length));
}

}  // namespace

TEST_CASE("a table is indexed by the last tokens, most recent last, and short contexts start with token 0") {
  const auto order_two = table<double>({{0, 10}, {1, 9}, {2, 8}, {3, 7}});
  std::vector<double> scratch;
  const auto first_probability = [&](const std::vector<Token>& context) {
    return std::lround(order_two.next(context, scratch)[0] * 10);
  };
  CHECK(first_probability({}) == 0);
  CHECK(first_probability({1}) == 1);
  CHECK(first_probability({1, 0}) == 2);
  CHECK(first_probability({0, 0, 1, 1}) == 3);
  static_assert(LanguageModel<ExactTable<double>>);
  static_assert(LanguageModel<ExactTable<Rational>, Rational>);
}

TEST_CASE("Algorithm 1 is lossless, exactly: golden vector and order-1 chains, several gammas and lengths") {
  for (const std::int32_t gamma : {0, 1, 2, 3}) {
    for (const std::size_t length : {1, 2, 4}) {
      CAPTURE(gamma);
      CAPTURE(length);
      CHECK(sequence_distance(TokenRule{}, golden_target, golden_draft, gamma, length) == 0);
      CHECK(sequence_distance(TokenRule{}, chain_target, chain_draft, gamma, length) == 0);
      // Draft and target have different orders, both ways.
      CHECK(sequence_distance(TokenRule{}, chain_target, golden_draft, gamma, length) == 0);
      CHECK(sequence_distance(TokenRule{}, golden_target, chain_draft, gamma, length) == 0);
    }
  }
}

TEST_CASE("lossless distributions are equal entry by entry, and sum to 1") {
  const auto target = table<Rational>(chain_target);
  const auto draft = table<Rational>(chain_draft);
  const auto distribution = sequence_distribution<Rational>(target, draft, TokenRule{}, 2, {}, 3);
  CHECK(distribution == plain_distribution<Rational>(target, {}, 3));
  Rational total = 0;
  for (const auto& [tokens, probability] : distribution) total += probability;
  CHECK(total == 1);
}

TEST_CASE("E[tokens] by enumeration is Eq. 1 exactly, and P(accepted = k) is alpha^k (1 - alpha)") {
  const auto target = table<Rational>(golden_target);
  const auto draft = table<Rational>(golden_draft);
  const Rational alpha = Rational(3) / 5;
  for (const std::int32_t gamma : {0, 1, 2, 4}) {
    const auto distribution = round_distribution<Rational>(target, draft, TokenRule{}, gamma, {});
    Rational tokens = 0;
    Rational reached = 1;
    for (std::int32_t k = 0; k <= gamma; ++k) {
      tokens += reached;
      const Rational stop = k == gamma ? Rational(1) : Rational(1 - alpha);
      CHECK(distribution.accepted[static_cast<std::size_t>(k)] == reached * stop);
      reached *= alpha;
    }
    CHECK(distribution.expected_tokens == tokens);
    CHECK(static_cast<double>(tokens) == doctest::Approx(expected_tokens(0.6, gamma)).epsilon(1e-14));
  }
}

TEST_CASE("an order-1 round emits 1 + sum of (M^i 1)(x) tokens, M the elementwise minimum") {
  const auto target = table<Rational>(chain_target);
  const auto draft = table<Rational>(chain_draft);
  constexpr std::int32_t gamma = 3;
  std::vector<Rational> reach(3, Rational(1));
  std::vector<Rational> expected(3, Rational(1));
  for (std::int32_t i = 0; i < gamma; ++i) {
    std::vector<Rational> next(3, Rational(0));
    for (std::size_t x = 0; x < 3; ++x) {
      for (std::size_t y = 0; y < 3; ++y) {
        next[x] += Rational(std::min(chain_target[x][y], chain_draft[x][y])) / 10 * reach[y];
      }
      expected[x] += next[x];
    }
    reach = next;
  }
  for (Token x = 0; x < 3; ++x) {
    const std::vector<Token> context{x};
    CHECK(round_distribution<Rational>(target, draft, TokenRule{}, gamma, context).expected_tokens ==
          expected[static_cast<std::size_t>(x)]);
  }
}

TEST_CASE("the planted faults are lossy, by exactly this much") {
  CHECK(first_token_distance(TokenRule{}) == 0);
  CHECK(first_token_distance(AcceptAllFault{}) == hundredths(40));        // emits the draft: TV(p, q)
  CHECK(first_token_distance(ResampleTargetFault{}) == hundredths(20));   // (.3, .42, .28)
  CHECK(first_token_distance(SwappedResidualFault{}) == hundredths(40));  // (.1, .3, .6)
  CHECK(sequence_distance(AcceptAllFault{}, chain_target, chain_draft, 2, 3) > 0);
  CHECK(sequence_distance(ResampleTargetFault{}, chain_target, chain_draft, 2, 3) > 0);
  CHECK(sequence_distance(SwappedResidualFault{}, chain_target, chain_draft, 2, 3) > 0);
}

TEST_CASE("lenience 1/2: acceptance .8, and a distance of .20, .25, .30 for the three residuals") {
  const auto target = table<Rational>(golden_target);
  const auto draft = table<Rational>(golden_draft);
  const auto rule = [](Residual residual) { return LenienceRule{0.5, residual}; };
  for (const Residual residual : {Residual::target_minus_draft, Residual::literal, Residual::target}) {
    CHECK(round_distribution<Rational>(target, draft, rule(residual), 1, {}).accepted[1] == hundredths(80));
    // TV(out, target) + P(reject) >= TV(target, draft) for every rule.
    CHECK(first_token_distance(rule(residual)) + hundredths(20) >= hundredths(40));
    CHECK(first_token_distance(LenienceRule{1, residual}) ==
          (residual == Residual::target ? hundredths(20) : hundredths(0)));
  }
  CHECK(first_token_distance(rule(Residual::target_minus_draft)) == hundredths(20));
  CHECK(first_token_distance(rule(Residual::literal)) == hundredths(25));
  CHECK(first_token_distance(rule(Residual::target)) == hundredths(30));
}

TEST_CASE("A.5: two of the residuals keep every token below target / lenience, the third does not") {
  const auto target = table<Rational>(golden_target);
  const auto draft = table<Rational>(golden_draft);
  const auto bounded = [&](Residual residual) {
    const auto plain = plain_distribution<Rational>(target, {}, 1);
    for (const auto& [tokens, probability] :
         sequence_distribution<Rational>(target, draft, LenienceRule{0.5, residual}, 1, {}, 1)) {
      if (probability > 2 * plain.at(tokens)) return false;
    }
    return true;
  };
  CHECK(bounded(Residual::target_minus_draft));
  CHECK(bounded(Residual::literal));
  CHECK_FALSE(bounded(Residual::target));
}

TEST_CASE("divergence on the golden vector, in rationals: total variation = 1 - overlap = P(reject)") {
  const std::vector<Rational> target = tenths<Rational>(golden_target[0]);
  const std::vector<Rational> draft = tenths<Rational>(golden_draft[0]);
  const BasicRow<Rational> p{target.data(), 3};
  const BasicRow<Rational> q{draft.data(), 3};
  CHECK(overlap(p, q) == hundredths(60));
  CHECK(total_variation(p, q) == hundredths(40));
  CHECK(lenient_overlap(p, q, hundredths(50)) == hundredths(80));
}

TEST_CASE("greedy lenience at 1 decodes the argmax, whatever the draft; at lower lenience it does not") {
  const auto target = table<Rational>(chain_target);
  const auto draft = table<Rational>(chain_draft);
  for (const std::int32_t gamma : {0, 1, 3}) {
    for (Token start = 0; start < 3; ++start) {
      const std::vector<Token> context{start};
      std::vector<Token> greedy;
      Token last = start;
      for (int i = 0; i < 4; ++i) {
        const std::vector<Rational> row = tenths<Rational>(chain_target[static_cast<std::size_t>(last)]);
        last = argmax(BasicRow<Rational>{row.data(), 3});
        greedy.push_back(last);
      }
      const SequenceDistribution<Rational> expected{{greedy, Rational(1)}};
      CHECK(sequence_distribution<Rational>(target, draft, GreedyLenienceRule{1}, gamma, context, 4) ==
            expected);
    }
  }
  const std::vector<Token> context{0};
  CHECK(sequence_distribution<Rational>(target, draft, GreedyLenienceRule{0.5}, 1, context, 1).size() == 2);
}

TEST_CASE("greedy lenience at 1 keeps any of several tied maxima, so it equals argmax only without ties") {
  const auto tied = table<Rational>({{4, 4, 2}});
  const auto draft = table<Rational>({{0, 10, 0}});
  const SequenceDistribution<Rational> expected{{{1}, Rational(1)}};
  CHECK(sequence_distribution<Rational>(tied, draft, GreedyLenienceRule{1}, 1, {}, 1) == expected);
}

TEST_CASE("block verification rejects fewer of the examined tokens than any lossless rule token by token") {
  // The total variation is 1/3, the smallest rejection token by token (Yin et al. 2024, Theorem 1). A round
  // examines the tokens that it accepts and the token that it rejects.
  const ExactTable<Rational> target({{Rational(1) / 3, Rational(2) / 3}});
  const ExactTable<Rational> draft({{Rational(2) / 3, Rational(1) / 3}});
  const auto rejected_of_examined = [&](const auto& rule) {
    const auto round = round_distribution<Rational>(target, draft, rule, 2, {});
    return Rational(round.rejected / (round.expected_tokens - 1 + round.rejected));
  };
  CHECK(rejected_of_examined(TokenRule{}) == Rational(1) / 3);
  CHECK(rejected_of_examined(BlockRule{}) == Rational(4) / 15);
}

TEST_CASE("doubles agree with rationals to rounding") {
  const auto exact =
      sequence_distribution<Rational>(table<Rational>(chain_target), table<Rational>(chain_draft),
                                      LenienceRule{0.5, Residual::literal}, 2, {}, 3);
  const auto rounded = sequence_distribution<double>(table<double>(chain_target), table<double>(chain_draft),
                                                     LenienceRule{0.5, Residual::literal}, 2, {}, 3);
  CHECK(exact.size() == rounded.size());
  for (const auto& [tokens, probability] : exact) {
    CHECK(std::abs(rounded.at(tokens) - static_cast<double>(probability)) < 1e-14);
  }
}

TEST_CASE("an invalid row ends the sequence and emits no id") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const ExactTable<double> invalid({{0.5, nan}});
  const ExactTable<double> sound({{0.5, 0.5}});
  const SequenceDistribution<double> nothing{{{}, 1.0}};
  CHECK(plain_distribution<double>(invalid, {}, 2) == nothing);
  CHECK(sequence_distribution<double>(sound, invalid, TokenRule{}, 1, {}, 2) == nothing);
  CHECK(sequence_distribution<double>(invalid, sound, TokenRule{}, 0, {}, 2) == nothing);
  CHECK(sequence_distribution<double>(invalid, sound, GreedyLenienceRule{}, 2, {}, 2) == nothing);
}

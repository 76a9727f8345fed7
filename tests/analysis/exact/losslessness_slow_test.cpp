// Compares the distribution of the simulator's output with the target's, by enumeration.
#include <doctest/doctest.h>

#include <vector>

#include "analysis/exact/round_distribution.hpp"
#include "analysis/statistics/fit_power.hpp"
#include "sim/any_rule.hpp"
#include "sim/compiled_rule.hpp"
#include "sim/models/model.hpp"
#include "sim/models/synthetic.hpp"
#include "sim/sequences.hpp"
#include "tests/bounds.hpp"
#include "tests/core/rules/all_rules.hpp"

using namespace speclab;

namespace {

constexpr std::int32_t vocab = 5;
constexpr std::size_t length = 3;
constexpr std::uint32_t samples = 100000;
constexpr std::size_t cells = vocab * vocab * vocab;
/// Classes that expect fewer share a cell, so that the chi-squared distribution holds far into its tail.
constexpr double min_expected = 50;

Model chain(std::uint64_t seed) { return Model(TableModel(vocab, 1, dirichlet_rows(vocab, vocab, 1, seed))); }

/// Returns a chain of order 2: a draft of order 1 cannot know the target's context.
Model longer_chain(std::uint64_t seed) {
  return Model(TableModel(vocab, 2, dirichlet_rows(vocab, vocab * vocab, 1, seed)));
}

SimulationSize plan_of(std::uint64_t seed) {
  SimulationSize plan;
  plan.seed = test_seed(seed);
  plan.trials = samples;
  plan.prompts = {{2}};
  return plan;
}

std::size_t cell(const Token* tokens) {
  std::size_t index = 0;
  for (std::size_t i = 0; i < length; ++i) index = index * vocab + static_cast<std::size_t>(tokens[i]);
  return index;
}

std::vector<std::uint64_t> counts(const std::vector<Token>& sequences) {
  std::vector<std::uint64_t> all(cells);
  for (std::size_t start = 0; start < sequences.size(); start += length)
    ++all[cell(sequences.data() + start)];
  return all;
}

std::vector<double> exact_distribution(const Model& target) {
  std::vector<double> distribution(cells);
  const std::vector<Token> prompt{2};
  for (const auto& [tokens, probability] : plain_distribution<double>(target, prompt, length)) {
    distribution[cell(tokens.data())] = probability;
  }
  return distribution;
}

/// Null: the sample has the exact distribution of the target's first three tokens. Both statistics are tested
/// at 1e-11.
bool fits(const std::vector<Token>& sequences, const std::vector<double>& distribution) {
  const FitTest test = fit_test(counts(sequences), distribution, min_expected);
  return test.p() > p_value_bound && test.g_p > p_value_bound;
}

struct Case {
  const char* name;
  Model target;
  Model draft;
};

std::vector<Case> cases() {
  const Adjustment cool{.temperature = 0.7, .top_k = 4, .top_p = 0.95};
  return {{"Markov pair", chain(1), chain(2)},
          {"order 2 target, order 1 draft", longer_chain(3), chain(4)},
          {"sampling options on both", adjusted(chain(1), cool), adjusted(chain(2), cool)}};
}

}  // namespace

TEST_CASE(
    "plain and speculative decoding have the target's distribution, and each planted fault is seen not to") {
  for (const Case& now : cases()) {
    CAPTURE(now.name);
    const std::vector<double> distribution = exact_distribution(now.target);
    CHECK(fits(plain_sequences(now.target, TokenRule{}, plan_of(1), length), distribution));
    const auto sample = [&](const auto& rule, std::int32_t gamma, std::uint64_t seed) {
      return speculative_sequences(now.target, now.draft, rule, gamma, plan_of(seed), length);
    };
    for (const std::int32_t gamma : {1, 2, 4}) {
      CAPTURE(gamma);
      CHECK(fits(sample(TokenRule{}, gamma, 2), distribution));
    }
    CHECK(fits(sample(LenienceRule{1}, 2, 3), distribution));
    // Power on the same budget: faults are rejected.
    CHECK_FALSE(fits(sample(AcceptAllFault{}, 2, 2), distribution));
    CHECK_FALSE(fits(sample(ResampleTargetFault{}, 2, 2), distribution));
    CHECK_FALSE(fits(sample(SwappedResidualFault{}, 2, 2), distribution));
    CHECK_FALSE(fits(sample(LenienceRule{0.5}, 2, 2), distribution));
  }
}

TEST_CASE("under one seed the plain and the speculative sample are independent") {
  // Null: two independent samples of one distribution. Shared draws would make the samples too similar, and p
  // too close to 1.
  const Model target = chain(1);
  const auto plain = counts(plain_sequences(target, TokenRule{}, plan_of(5), length));
  const auto speculative =
      counts(speculative_sequences(target, chain(2), TokenRule{}, 3, plan_of(5), length));
  const FitTest test = two_sample_test(plain, speculative, min_expected);
  CHECK(test.pearson_p > p_value_bound);
  CHECK(test.pearson_p < 1 - p_value_bound);
  const FitTest shared = two_sample_test(plain, plain, min_expected);
  CHECK_FALSE(shared.pearson_p < 1 - p_value_bound);
}

TEST_CASE("what this budget is certain to see") {
  const double distance =
      detectable_total_variation(static_cast<int>(cells) - 1, samples, p_value_bound, 0.999);
  CHECK(distance < 0.03);
}

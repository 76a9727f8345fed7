// Tests drafting of the tokens that a grammar forces: the output has the target's distribution, by
// enumeration and by simulation, and a round emits 1 / (1 - share of forced tokens) tokens.
#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <map>
#include <vector>

#include "analysis/exact/round_distribution.hpp"
#include "analysis/statistics/goodness_of_fit.hpp"
#include "core/rules/faults.hpp"
#include "core/rules/token.hpp"
#include "sim/compiled_rule.hpp"
#include "sim/drafters/model_drafter.hpp"
#include "sim/policies/fixed.hpp"
#include "sim/sequence_decode.hpp"
#include "tests/bounds.hpp"

using namespace speclab;

namespace {

using Tokens = std::vector<Token>;

// 0 opens, then 1 and 3 must follow, and 1 again or 2.
const Grammar grammar{
    {.next = {{0, 1}}, .other = 0}, {.next = {{1, 2}}}, {.next = {{3, 3}}}, {.next = {{1, 3}, {2, 0}}}};
/// Planted fault: 1 opens, which an engine would do that reads another state.
const Grammar wrong{
    {.next = {{1, 1}}, .other = 0}, {.next = {{2, 2}}}, {.next = {{3, 3}}}, {.next = {{1, 3}, {2, 0}}}};
const RequestLaw law{.grammar = grammar};
const Tokens prompt{0, 2};
const TableModel table(4, 1, {5, 3, 2, 1, 1, 6, 3, 2, 2, 2, 6, 1, 1, 4, 3, 2});
const TableModel other(4, 1, {1, 3, 2, 4, 2, 2, 3, 1, 5, 2, 1, 1, 1, 1, 3, 2});
const Model target = requested(table, law, prompt.size());

/// Decodes at least `length` tokens after the prompt, with the drafter's tokens, and returns so many.
template <class Rule, class Random>
Tokens decoded(const ModelDrafter& drafter, int gamma, const Rule& rule, std::size_t length,
               const std::function<Random&(std::uint32_t round)>& random) {
  Tokens context = prompt;
  ModelDrafter::Memory memory;
  FixedPolicy::Memory learned;
  const FixedPolicy policy(gamma);
  RoundScratch<double> scratch;
  const AdaptiveDrafting<ModelDrafter, FixedPolicy> drafting{drafter, memory, policy, learned};
  for (std::uint32_t round = 0; context.size() < prompt.size() + length; ++round)
    drafted_round(target, drafting, rule, context, random(round), scratch, NoWatch{});
  return {context.begin() + 2, context.begin() + 2 + static_cast<long>(length)};
}

/// Returns the total variation to plain decoding, by enumeration.
template <class Rule = TokenRule>
double distance(const ModelDrafter& drafter, int gamma, const Rule& rule = {}) {
  constexpr std::size_t length = 4;
  using Source = EnumeratedRandomSource<double>;
  const auto program = [&](Source& random) {
    return decoded<Rule, Source>(drafter, gamma, rule, length, [&](std::uint32_t) -> Source& {
      random.next_round();
      return random;
    });
  };
  SequenceDistribution<double> found;
  enumerate<double>(program, [&](const Tokens& tokens, double probability) { found[tokens] += probability; });
  return distribution_distance(found, plain_distribution<double>(target, prompt, length, rule));
}

const ModelDrafter forced(4, grammar);
ModelDrafter with_model(const Grammar& forcing) { return ModelDrafter(other, law, forcing); }

}  // namespace

TEST_CASE(
    "forced tokens as drafts are lossless, by enumeration; accepting what another state forces is not") {
  for (const int gamma : {1, 2}) {
    CHECK(distance(forced, gamma) < 1e-12);
    CHECK(distance(with_model(grammar), gamma) < 1e-12);
  }
  // Verification corrects even a grammar that is not the target's.
  CHECK(distance(with_model(wrong), 1) < 1e-12);
  CHECK(distance(forced, 2, AcceptAllFault{}) < 1e-12);  // they are always right
  CHECK(distance(ModelDrafter(4, wrong), 2, AcceptAllFault{}) > 0.1);
}

TEST_CASE("and by simulation, from 20,000 sequences; the planted fault shows") {
  constexpr std::size_t length = 4;
  const auto plain = plain_distribution<double>(target, prompt, length, TokenRule{});
  const auto p_value = [&]<class Rule>(const ModelDrafter& drafter, const Rule& rule) {
    std::map<Tokens, std::uint64_t> counted;
    for (std::uint32_t trial = 0; trial < 20000; ++trial) {
      SampledRandomSource random = sampled_random_source(1, 0, 0);
      const auto source = [&](std::uint32_t round) -> SampledRandomSource& {
        return random = sampled_random_source(test_seed(17), trial, round);
      };
      ++counted[decoded<Rule, SampledRandomSource>(drafter, 3, rule, length, source)];
    }
    std::vector<std::uint64_t> counts;
    std::vector<double> probabilities;
    for (const auto& [tokens, probability] : plain) {
      counts.push_back(counted[tokens]);
      probabilities.push_back(probability);
      counted.erase(tokens);
    }
    counts.push_back(0);
    for (const auto& [tokens, count] : counted) counts.back() += count;
    probabilities.push_back(0);
    return fit_test(counts, probabilities).p();
  };
  CHECK(p_value(forced, TokenRule{}) > p_value_bound);
  CHECK(p_value(with_model(grammar), TokenRule{}) > p_value_bound);
  CHECK(p_value(ModelDrafter(4, wrong), AcceptAllFault{}) < p_value_bound);
}

TEST_CASE(
    "tokens per target step are 1 / (1 - f), with f the share of forced tokens of the stationary chain") {
  // The chain over pairs of the last token and the grammar's state, by iteration of plain decoding.
  std::map<std::pair<Token, const GrammarState*>, double> chain{{{prompt.back(), grammar.data()}, 1.0}};
  double share = 0;
  std::vector<double> row;
  RequestScratch scratch;
  for (int step = 0; step < 400; ++step) {
    std::map<std::pair<Token, const GrammarState*>, double> after;
    share = 0;
    for (const auto& [context, probability] : chain) {
      const auto& [last, state] = context;
      if (state->forced()) share += probability;
      double allowed = 0;
      for (Token token = 0; token < 4; ++token)
        allowed += state->after(token) ? table.row(static_cast<std::size_t>(last))[token] : 0;
      for (Token token = 0; token < 4; ++token) {
        const auto next = state->after(token);
        if (next) {
          after[{token, &grammar[static_cast<std::size_t>(*next)]}] +=
              probability * table.row(static_cast<std::size_t>(last))[token] / allowed;
        }
      }
    }
    chain = after;
  }
  SequenceSet simulation{.seed = test_seed(5), .sequences = {}, .batches = 8};
  for (int i = 0; i < 80; ++i) simulation.sequences.push_back({prompt, 250});
  const auto tally = [&](const ModelDrafter& drafter, int gamma) {
    return decode_sequences(
               simulation, [](std::size_t) { return target; }, drafter, FixedPolicy(gamma), TokenRule{})
        .total();
  };
  const Tally found = tally(forced, 8);
  CHECK(found.accepted == found.drafted);
  CHECK(found.draft_runs == 0);
  // Rounds are the tokens that were not forced. Their number has a variance of less than one per token; the
  // start and the last rounds change it by at most 3 in each sequence.
  const auto rounds = static_cast<double>(found.rounds);
  const auto tokens = static_cast<double>(found.emitted);
  const auto agrees = [&](double f) {
    return std::abs(rounds - (1 - f) * tokens) < bound_in_sigmas * std::sqrt(tokens) + 3 * 80;
  };
  CHECK(agrees(share));
  CHECK(!agrees(share + 0.08));
  CHECK(share > 0.15);
  // One forced token a round is fewer, and a model beside them more.
  CHECK(tally(forced, 1).rounds > found.rounds);
  const Tally both = tally(with_model(grammar), 8);
  CHECK(both.rounds < found.rounds);
  CHECK(both.draft_runs < both.drafted);
}

// Sampled token sequences themselves, for tests of the output law and for pictures of single rounds.
#pragma once

#include <cstdint>
#include <vector>

#include "speclab/sim/decode.hpp"

namespace speclab {

/// What one round did, for drawing.
struct RoundRecord {
  std::vector<Token> drafted;
  std::int32_t accepted = 0;
  Token next = 0;

  bool corrected() const { return accepted < static_cast<std::int32_t>(drafted.size()); }
};

/// Rules that draft one sequence of gamma tokens.
template <class Rule>
concept ChainRule = !PathsRule<Rule> && !AnyTreeRule<Rule>;

/// Rounds of one trial until at least `tokens` are emitted.
template <class Target, class Draft, ChainRule Rule>
std::vector<RoundRecord> record_rounds(const Target& target, const Draft& draft, const Rule& rule,
                                       std::int32_t gamma, std::vector<Token> context, std::size_t tokens,
                                       std::uint64_t seed) {
  std::vector<RoundRecord> records;
  RoundScratch<double> scratch;
  const std::size_t goal = context.size() + tokens;
  for (std::uint32_t round = 0; context.size() < goal; ++round) {
    const std::size_t start = context.size();
    std::vector<Token> drafted;
    SampledChance chance = sampled_chance(seed, 0, round);
    // The context still ends in all the drafted tokens while the round is watched.
    const auto watch = [&](std::span<const Token> prefix, Row, const Row*) {
      if (prefix.size() == start) drafted.assign(prefix.data() + start, prefix.data() + start + gamma);
    };
    const Round done = speculative_round(target, draft, rule, gamma, context, chance, scratch, watch);
    if (done.next < 0) throw_damaged_row();
    records.push_back({std::move(drafted), done.accepted, done.next});
  }
  return records;
}

/// The first `length` tokens that speculative decoding emits after the prompt, for each trial of the plan
/// (plan.length is not used). Row t of the result starts at t * length.
template <class Target, class Draft, class Rule>
std::vector<Token> speculative_sequences(const Target& target, const Draft& draft, const Rule& rule,
                                         std::int32_t gamma, const Plan& plan, std::size_t length) {
  std::vector<Token> all(plan.trials * length);
  for_each_index(plan.trials, [&](std::size_t index) {
    const auto trial = static_cast<std::uint32_t>(index);
    thread_local RoundScratch<double> scratch;
    std::vector<Token> context = plan.prompt(trial);
    const std::size_t start = context.size();
    for (std::uint32_t round = 0; context.size() < start + length; ++round) {
      SampledChance chance = sampled_chance(plan.seed, trial, round);
      if (speculative_round(target, draft, rule, gamma, context, chance, scratch, NoWatch{}).next < 0) {
        throw_damaged_row();
      }
    }
    for (std::size_t i = 0; i < length; ++i) all[trial * length + i] = context[start + i];
  });
  return all;
}

/// The same for plain decoding of the target. Its draws are a stream of their own (Use::plain), so both
/// samples are independent under one seed.
template <class Target, class Rule>
std::vector<Token> plain_sequences(const Target& target, const Rule& rule, const Plan& plan,
                                   std::size_t length) {
  std::vector<Token> all(plan.trials * length);
  for_each_index(plan.trials, [&](std::size_t index) {
    const auto trial = static_cast<std::uint32_t>(index);
    thread_local std::vector<double> scratch;
    std::vector<Token> context = plan.prompt(trial);
    for (std::uint32_t i = 0; i < length; ++i) {
      context.push_back(plain_token(plain_weights(rule, target.next(context, scratch)), plan.seed, trial, i));
      all[trial * length + i] = context.back();
    }
  });
  return all;
}

}  // namespace speclab

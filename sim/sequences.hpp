// Sampled token sequences themselves, for tests of the output distribution and for pictures of single rounds.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/decode.hpp"

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
    SampledRandomSource random = sampled_random_source(seed, 0, round);
    // The context still ends in all the drafted tokens while the round is watched.
    const auto watch = [&](std::span<const Token> prefix, Row, const Row*) {
      if (prefix.size() == start) drafted.assign(prefix.data() + start, prefix.data() + start + gamma);
    };
    const Round done = speculative_round(target, draft, rule, gamma, context, random, scratch, watch);
    if (done.next < 0) throw_invalid_row();
    records.push_back({std::move(drafted), done.accepted, done.next});
  }
  return records;
}

/// Fills `out` with the first tokens that speculative decoding emits after the prompt in one trial.
template <class Target, class Draft, class Rule>
void speculative_sequence(const Target& target, const Draft& draft, const Rule& rule, std::int32_t gamma,
                          const SimulationSize& simulation, std::uint32_t trial,
                          RoundScratch<double>& scratch, std::span<Token> out) {
  std::vector<Token> context = simulation.prompt(trial);
  const std::size_t start = context.size();
  for (std::uint32_t round = 0; context.size() < start + out.size(); ++round) {
    SampledRandomSource random = sampled_random_source(simulation.seed, trial, round);
    if (speculative_round(target, draft, rule, gamma, context, random, scratch, NoWatch{}).next < 0) {
      throw_invalid_row();
    }
  }
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = context[start + i];
}

/// The same for plain decoding of the target. Its draws are a stream of their own (Use::plain), so both
/// samples are independent under one seed.
template <class Target, class Rule>
void plain_sequence(const Target& target, const Rule& rule, const SimulationSize& simulation,
                    std::uint32_t trial, RoundScratch<double>& scratch, std::span<Token> out) {
  std::vector<Token> context = simulation.prompt(trial);
  for (std::uint32_t i = 0; i < out.size(); ++i) {
    context.push_back(
        plain_token(plain_weights(rule, target.next(context, scratch.extra_row)), simulation.seed, trial, i));
    out[i] = context.back();
  }
}

/// `fill(trial, scratch, out)` for each trial, in parallel; row t of the result starts at
/// t * length. Empty when `control` ended it early; its progress counts sequences.
template <class Fill>
std::vector<Token> fill_sequences(std::uint32_t trials, std::size_t length, const Control& control,
                                  const Fill& fill) {
  std::vector<Token> all(trials * length);
  std::atomic<bool> stopped{false};
  for_each_index((std::size_t{trials} + steps_between_checks - 1) / steps_between_checks,
                 [&](std::size_t block) {
                   if (stopped || control.stop()) {
                     stopped = true;
                     return;
                   }
                   RoundScratch<double> scratch;
                   const auto first = static_cast<std::uint32_t>(block) * steps_between_checks;
                   const std::uint32_t count = std::min(steps_between_checks, trials - first);
                   for (std::uint32_t trial = first; trial < first + count; ++trial) {
                     fill(trial, scratch, std::span<Token>(all).subspan(trial * length, length));
                   }
                   control.progress(count);
                 });
  if (stopped) all.clear();
  return all;
}

/// The first `length` tokens that speculative decoding emits after the prompt, for each trial
/// (simulation.length is not used).
template <class Target, class Draft, class Rule>
std::vector<Token> speculative_sequences(const Target& target, const Draft& draft, const Rule& rule,
                                         std::int32_t gamma, const SimulationSize& simulation,
                                         std::size_t length, const Control& control = {}) {
  return fill_sequences(simulation.trials, length, control,
                        [&](std::uint32_t trial, RoundScratch<double>& scratch, std::span<Token> out) {
                          speculative_sequence(target, draft, rule, gamma, simulation, trial, scratch, out);
                        });
}

/// The same for plain decoding of the target.
template <class Target, class Rule>
std::vector<Token> plain_sequences(const Target& target, const Rule& rule, const SimulationSize& simulation,
                                   std::size_t length, const Control& control = {}) {
  return fill_sequences(simulation.trials, length, control,
                        [&](std::uint32_t trial, RoundScratch<double>& scratch, std::span<Token> out) {
                          plain_sequence(target, rule, simulation, trial, scratch, out);
                        });
}

}  // namespace speclab

// The simulator: many rounds of speculative decoding, or many tokens of plain decoding, in parallel over
// trials. Every random number is addressed by (seed, trial, round), so the result is the same at any number
// of threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

#include "core/distribution/divergence.hpp"
#include "core/random/random_source.hpp"
#include "core/rules/all_rules.hpp"
#include "sim/control.hpp"
#include "sim/error.hpp"
#include "sim/parallel.hpp"
#include "sim/simulation_size.hpp"

namespace speclab {

/// Steps between two calls of `Control`.
inline constexpr std::uint32_t steps_between_checks = 256;

/// Runs `step(trial, round, context, tally, scratch)` for every trial and round; `context` starts from the
/// prompt.
template <class Step>
Outcome run_trials(const SimulationSize& simulation, const Control& control, const Step& step) {
  Outcome outcome;
  outcome.batches.resize(std::min<std::uint64_t>(simulation.batches, simulation.total()));
  std::mutex mutex;
  std::atomic<bool> stopped{false};
  for_each_index(simulation.trials, [&](std::size_t index) {
    const auto trial = static_cast<std::uint32_t>(index);
    BatchWriter writer(simulation, outcome, mutex);
    std::vector<Token> context = simulation.prompt(trial);
    RoundScratch<double> scratch;
    std::uint32_t told = 0;
    for (std::uint32_t round = 0; round < simulation.length; ++round) {
      if (round % steps_between_checks == 0) {
        control.progress(round - told);
        told = round;
        if (stopped || control.stop()) {
          stopped = true;
          return;
        }
      }
      step(trial, round, context, writer.at(trial, round), scratch);
    }
    control.progress(simulation.length - told);
  });
  outcome.partial = stopped;
  return outcome;
}

[[noreturn]] inline void throw_invalid_row() {
  throw ModelError("a model produced a row that holds NaN or infinity, or sums to 0");
}

inline void record_overlap(Tally& tally, double value) {
  if (!(value >= 0)) throw_invalid_row();
  tally.add_overlap(value);
}

/// A model whose row is the same in every context may say so by `context_free()`.
template <class M>
bool is_context_free(const M& model) {
  if constexpr (requires { model.context_free(); }) {
    return model.context_free();
  } else {
    return false;
  }
}

/// The rule's acceptance rate in one context; for rules without one (blocks, several drafts, trees) the
/// overlap, which is what token verification would accept.
template <class Rule, class Real>
Real context_acceptance(const Rule& rule, BasicRow<Real> target, BasicRow<Real> draft) {
  if constexpr (requires { rule.acceptance_rate(target, draft); }) {
    return rule.acceptance_rate(target, draft);
  } else {
    return overlap(target, draft);
  }
}

/// Speculative decoding: simulation.trials sequences of simulation.length rounds with gamma drafted tokens
/// each.
///
/// The acceptance rate (for token verification the overlap of target and draft) is tallied at every emitted
/// token's context: the positions that verification reached, and the bonus position, for which the draft is
/// asked once more. Under a lossless rule these are exactly contexts that the target generates, which is what
/// alpha is defined over (Cor. 3.6).
template <class Target, class Draft, class Rule>
Outcome decode_speculatively(const Target& target, const Draft& draft, const Rule& rule, std::int32_t gamma,
                             const SimulationSize& simulation, const Control& control = {}) {
  const bool constant = is_context_free(target) && is_context_free(draft);
  std::vector<double> scratch_a;
  std::vector<double> scratch_b;
  const double constant_overlap = constant
                                      ? context_acceptance(rule, target.next(simulation.prompt(0), scratch_a),
                                                           draft.next(simulation.prompt(0), scratch_b))
                                      : 0;

  return run_trials(
      simulation, control,
      [&](std::uint32_t trial, std::uint32_t number, std::vector<Token>& context, Tally& tally,
          RoundScratch<double>& scratch) {
        const auto watch = [&](std::span<const Token> prefix, Row target_row, const Row* draft_row) {
          if (constant) {
            record_overlap(tally, constant_overlap);
          } else {
            record_overlap(tally,
                           context_acceptance(
                               rule, target_row,
                               draft_row != nullptr ? *draft_row : draft.next(prefix, scratch.extra_row)));
          }
        };
        SampledRandomSource random = sampled_random_source(simulation.seed, trial, number);
        const Round round = speculative_round(target, draft, rule, gamma, context, random, scratch, watch);
        if (round.next < 0) throw_invalid_row();
        tally.add_round(round);
      });
}

/// One token of plain decoding, addressed by (seed, trial, round).
template <class Weights>
Token plain_token(const Weights& weights, std::uint64_t seed, std::uint32_t trial, std::uint32_t round) {
  SampledRandomSource random = sampled_random_source(seed, trial, round);
  const Token token = random.categorical(Draw{Use::plain, 0}, weights);
  if (token < 0) throw_invalid_row();
  return token;
}

/// Section 4.2's measurement: the mean of the rule's acceptance rate over the contexts of
/// simulation.trials * simulation.length tokens that the target itself generates by plain decoding.
template <class Target, class Draft, class Rule>
Outcome measure_acceptance(const Target& target, const Draft& draft, const Rule& rule,
                           const SimulationSize& simulation, const Control& control = {}) {
  return run_trials(
      simulation, control,
      [&](std::uint32_t trial, std::uint32_t round, std::vector<Token>& context, Tally& tally,
          RoundScratch<double>& scratch) {
        scratch.reserve(0, 1);
        const Row target_row = target.next(context, scratch.target_rows[0]);
        record_overlap(tally, context_acceptance(rule, target_row, draft.next(context, scratch.extra_row)));
        context.push_back(plain_token(plain_weights(rule, target_row), simulation.seed, trial, round));
      });
}

}  // namespace speclab

// The simulator: many rounds of speculative decoding, or many tokens of plain decoding, in parallel over
// trials. Every random number is addressed by (seed, trial, round), so the result is the same at any number
// of threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

#include "core/random/random_source.hpp"
#include "core/distribution/divergence.hpp"
#include "core/rules/all_rules.hpp"
#include "sim/control.hpp"
#include "sim/error.hpp"
#include "sim/parallel.hpp"
#include "sim/simulation_size.hpp"

namespace speclab {

/// Steps between two looks at `Control`.
inline constexpr std::uint32_t steps_between_checks = 256;

/// Runs `step(trial, round, context, tally, scratch)` for every trial and round; `context` starts from the
/// prompt.
template <class Step>
Outcome run_trials(const Plan& plan, const Control& control, const Step& step) {
  Outcome outcome;
  outcome.batches.resize(std::min<std::uint64_t>(plan.batches, plan.total()));
  std::mutex mutex;
  std::atomic<bool> stopped{false};
  for_each_index(plan.trials, [&](std::size_t index) {
    const auto trial = static_cast<std::uint32_t>(index);
    BatchWriter writer(plan, outcome, mutex);
    std::vector<Token> context = plan.prompt(trial);
    RoundScratch<double> scratch;
    std::uint32_t told = 0;
    for (std::uint32_t round = 0; round < plan.length; ++round) {
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
    control.progress(plan.length - told);
  });
  outcome.partial = stopped;
  return outcome;
}

[[noreturn]] inline void throw_damaged_row() {
  throw ModelError("a model produced a row that holds NaN, infinity or no mass");
}

inline void record_overlap(Tally& tally, double value) {
  if (!(value >= 0)) throw_damaged_row();
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

/// Speculative decoding: plan.trials sequences of plan.length rounds with gamma drafted tokens each.
///
/// The acceptance rate (for token verification the overlap of target and draft) is tallied at every emitted
/// token's context: the positions the verifier reached, and the bonus position, for which the draft is asked
/// once more. Under a lossless rule these are exactly contexts that the target generates, which is what alpha
/// is defined over (Cor. 3.6).
template <class Target, class Draft, class Rule>
Outcome decode_speculatively(const Target& target, const Draft& draft, const Rule& rule, std::int32_t gamma,
                             const Plan& plan, const Control& control = {}) {
  const bool constant = is_context_free(target) && is_context_free(draft);
  std::vector<double> room_a;
  std::vector<double> room_b;
  const double constant_overlap = constant ? context_acceptance(rule, target.next(plan.prompt(0), room_a),
                                                                draft.next(plan.prompt(0), room_b))
                                           : 0;

  return run_trials(
      plan, control,
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
        SampledChance chance = sampled_chance(plan.seed, trial, number);
        const Round round = speculative_round(target, draft, rule, gamma, context, chance, scratch, watch);
        if (round.next < 0) throw_damaged_row();
        tally.add_round(round);
      });
}

/// One token of plain decoding, addressed by (seed, trial, round).
template <class Weights>
Token plain_token(const Weights& weights, std::uint64_t seed, std::uint32_t trial, std::uint32_t round) {
  SampledChance chance = sampled_chance(seed, trial, round);
  const Token token = chance.pick(Draw{Use::plain, 0}, weights);
  if (token < 0) throw_damaged_row();
  return token;
}

/// Section 4.2's measurement: the mean of the rule's acceptance rate over the contexts of
/// plan.trials * plan.length tokens that the target itself generates by plain decoding.
template <class Target, class Draft, class Rule>
Outcome measure_acceptance(const Target& target, const Draft& draft, const Rule& rule, const Plan& plan,
                           const Control& control = {}) {
  return run_trials(
      plan, control,
      [&](std::uint32_t trial, std::uint32_t round, std::vector<Token>& context, Tally& tally,
          RoundScratch<double>& scratch) {
        scratch.reserve(0, 1);
        const Row target_row = target.next(context, scratch.target_rows[0]);
        record_overlap(tally, context_acceptance(rule, target_row, draft.next(context, scratch.extra_row)));
        context.push_back(plain_token(plain_weights(rule, target_row), plan.seed, trial, round));
      });
}

}  // namespace speclab

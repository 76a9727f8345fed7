// Decoding that measures its rule: the counts of a run, and how much could have been accepted, how far the
// output is from the target, and how many rejections no lossless scheme could have avoided. Rounds, and all
// their random numbers, are those of sim/decode.hpp.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/fast/fast_transport.hpp"
#include "core/rules/position_rules.hpp"
#include "sim/decode.hpp"

namespace speclab {

/// Tokens that a rule drafts at the first position of a round: 0 when gamma is, 1 for rules of one draft.
template <class Rule>
std::int32_t first_drafts(const Rule& rule, std::int32_t gamma) {
  if (gamma == 0) return 0;
  if constexpr (PathsRule<Rule>) {
    return rule.paths;
  } else if constexpr (GrowingRule<Rule>) {
    return std::min(rule.branching, rule.nodes);
  } else if constexpr (AnyTreeRule<Rule>) {
    return static_cast<std::int32_t>(rule.tree->children(-1).size());
  } else {
    return 1;
  }
}

/// The rule's acceptance probabilities in one context, callable with a token.
template <class Rule>
auto acceptances_of(const Rule& rule, Row target, Row draft) {
  if constexpr (requires { rule.acceptances(target, draft); }) {
    return rule.acceptances(target, draft);
  } else {
    return [&rule, target, draft](Token token) { return rule.acceptance(token, target, draft); };
  }
}

/// Rows that `emitted_distribution` and its callers work in.
struct QualityScratch {
  std::vector<double> distribution;
  std::vector<double> replacement;
  std::vector<double> wanted;
};

/// The distribution of the token that a rule emits at an examined position:
///     q(x) a(x) + (1 - sum q a) r(x)
/// with a the acceptance probabilities and r the normalised replacement. The row views
/// `scratch.distribution`.
template <AcceptanceRule Rule>
Row emitted_distribution(const Rule& rule, Row target, Row draft, QualityScratch& scratch) {
  const auto size = static_cast<std::size_t>(target.size);
  scratch.distribution.resize(size);
  scratch.replacement.resize(size);
  const auto acceptance = acceptances_of(rule, target, draft);
  const auto weights = rule.replacement(target, draft);
  for (std::size_t i = 0; i < size; ++i) {
    const auto id = static_cast<Token>(i);
    scratch.distribution[i] = draft[id] > 0 ? draft[id] * acceptance(id) : draft[id];
    scratch.replacement[i] = weights[id];
  }
  const Row distribution{scratch.distribution.data(), target.size};
  Row instead{scratch.replacement.data(), target.size};
  const double accepted = total_probability(distribution);
  double total = total_probability(instead);
  if (total == 0) total = total_probability(instead = target);
  const double scale = (accepted < 1 ? 1 - accepted : 0) / total;
  for (std::size_t i = 0; i < size; ++i) scratch.distribution[i] += scale * instead[static_cast<Token>(i)];
  return distribution;
}

/// How the quality of a rule is to be measured.
struct RuleQualityOptions {
  bool lossless = false;       ///< proved elsewhere: its output distribution is the target's
  bool argmax_target = false;  ///< the target means the argmax of its rows
};

/// Speculative decoding as by decode_speculatively, without its overlaps. Tallied besides:
/// optimal_transport_bound: for `first_drafts` i.i.d. drafts, where a round starts;
/// divergence, for lossless rules: total variation of target and draft, which is the least rejection
///     probability of any lossless scheme of one draft (Yin et al. 2024), where one was examined;
/// distance, for the others, if acceptance rules: total variation of emitted distribution and target there.
template <class Target, class Draft, class Rule>
Outcome measure_rule_quality(const Target& target, const Draft& draft, const Rule& rule, std::int32_t gamma,
                             const RuleQualityOptions& how, const SimulationSize& simulation,
                             const Control& control = {}) {
  const std::int32_t drafts = first_drafts(rule, gamma);
  return run_trials(
      simulation, control,
      [&](std::uint32_t trial, std::uint32_t number, std::vector<Token>& context, Tally& tally,
          RoundScratch<double>& scratch) {
        thread_local QualityScratch quality_scratch;
        bool at_start = true;
        const auto add = [](ContextSum& sum, double value) {
          if (!(value >= 0)) throw_invalid_row();
          sum.add(value);
        };
        const auto watch = [&](std::span<const Token>, Row target_row, const Row* draft_row) {
          if (draft_row == nullptr) return;
          Row wanted = target_row;
          if (how.argmax_target) {
            quality_scratch.wanted.assign(static_cast<std::size_t>(target_row.size), 0.0);
            quality_scratch.wanted[static_cast<std::size_t>(std::max(argmax(target_row), 0))] = 1;
            wanted.probabilities = quality_scratch.wanted.data();
          }
          if (at_start)
            add(tally.quality.optimal_transport_bound, fast_transport_acceptance(wanted, *draft_row, drafts));
          at_start = false;
          if (how.lossless) {
            add(tally.quality.divergence, total_variation(wanted, *draft_row));
          } else if constexpr (AcceptanceRule<Rule>) {
            add(tally.quality.distance,
                total_variation(emitted_distribution(rule, target_row, *draft_row, quality_scratch), wanted));
          }
        };
        SampledRandomSource random = sampled_random_source(simulation.seed, trial, number);
        const Round round = speculative_round(target, draft, rule, gamma, context, random, scratch, watch);
        if (round.next < 0) throw_invalid_row();
        tally.add_round(round);
      });
}

}  // namespace speclab

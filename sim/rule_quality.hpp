// Decoding that judges its rule: beside the counts of a run, how much could have been kept, how far the
// output is from the target, and how many rejections no lossless scheme could have avoided. Rounds, and all
// their random numbers, are those of sim/decode.hpp.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/rules/position_rules.hpp"
#include "core/fast/fast_transport.hpp"
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

/// The rule's coins of one context, callable with a token.
template <class Rule>
auto coins_of(const Rule& rule, Row target, Row draft) {
  if constexpr (requires { rule.coins(target, draft); }) {
    return rule.coins(target, draft);
  } else {
    return [&rule, target, draft](Token token) { return rule.acceptance(token, target, draft); };
  }
}

/// Rows that `emitted_law` and its callers work in.
struct JudgeScratch {
  std::vector<double> law;
  std::vector<double> replacement;
  std::vector<double> wanted;
};

/// The law of the token that a rule emits at an examined position:
///     q(x) a(x) + (1 - sum q a) r(x)
/// with a the coins and r the normalised replacement. The row views `scratch.law`.
template <CoinRule Rule>
Row emitted_law(const Rule& rule, Row target, Row draft, JudgeScratch& scratch) {
  const auto size = static_cast<std::size_t>(target.size);
  scratch.law.resize(size);
  scratch.replacement.resize(size);
  const auto coin = coins_of(rule, target, draft);
  const auto weights = rule.replacement(target, draft);
  for (std::size_t i = 0; i < size; ++i) {
    const auto id = static_cast<Token>(i);
    scratch.law[i] = draft[id] > 0 ? draft[id] * coin(id) : draft[id];
    scratch.replacement[i] = weights[id];
  }
  const Row law{scratch.law.data(), target.size};
  Row instead{scratch.replacement.data(), target.size};
  const double kept = total_mass(law);
  double total = total_mass(instead);
  if (total == 0) total = total_mass(instead = target);
  const double scale = (kept < 1 ? 1 - kept : 0) / total;
  for (std::size_t i = 0; i < size; ++i) scratch.law[i] += scale * instead[static_cast<Token>(i)];
  return law;
}

/// How a rule is to be judged.
struct Judging {
  bool lossless = false;       ///< proved elsewhere: its output law is the target's
  bool argmax_target = false;  ///< the target means the argmax of its rows
};

/// Speculative decoding as by decode_speculatively, without its overlaps. Tallied besides:
/// optimum: the optimal transport bound for `first_drafts` i.i.d. drafts, where a round starts;
/// divergence, for lossless rules: total variation of target and draft, which is the least rejection
///     probability of any lossless scheme of one draft (Yin et al. 2024), where one was examined;
/// distance, for the others, if coin rules: total variation of emitted law and target there.
template <class Target, class Draft, class Rule>
Outcome judge_rule(const Target& target, const Draft& draft, const Rule& rule, std::int32_t gamma,
                   const Judging& how, const Plan& plan, const Control& control = {}) {
  const std::int32_t drafts = first_drafts(rule, gamma);
  return run_trials(
      plan, control,
      [&](std::uint32_t trial, std::uint32_t number, std::vector<Token>& context, Tally& tally,
          RoundScratch<double>& scratch) {
        thread_local JudgeScratch room;
        bool at_start = true;
        const auto add = [](ContextSum& sum, double value) {
          if (!(value >= 0)) throw_damaged_row();
          sum.add(value);
        };
        const auto watch = [&](std::span<const Token>, Row target_row, const Row* draft_row) {
          if (draft_row == nullptr) return;
          Row wanted = target_row;
          if (how.argmax_target) {
            room.wanted.assign(static_cast<std::size_t>(target_row.size), 0.0);
            room.wanted[static_cast<std::size_t>(std::max(argmax(target_row), 0))] = 1;
            wanted.mass = room.wanted.data();
          }
          if (at_start) add(tally.judgement.optimum, quick_transport_acceptance(wanted, *draft_row, drafts));
          at_start = false;
          if (how.lossless) {
            add(tally.judgement.divergence, total_variation(wanted, *draft_row));
          } else if constexpr (CoinRule<Rule>) {
            add(tally.judgement.distance,
                total_variation(emitted_law(rule, target_row, *draft_row, room), wanted));
          }
        };
        SampledChance chance = sampled_chance(plan.seed, trial, number);
        const Round round = speculative_round(target, draft, rule, gamma, context, chance, scratch, watch);
        if (round.next < 0) throw_damaged_row();
        tally.add_round(round);
      });
}

}  // namespace speclab

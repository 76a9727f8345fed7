// Decoding that measures its rule: beside the counts of a run, the largest acceptance that was possible, how
// far the output is from the target, and how many rejections no lossless scheme could have avoided. Rounds,
// and all their random numbers, are those of sim/decode.hpp.
#pragma once

#include <cstdint>

#include "sim/any_rule.hpp"
#include "sim/control.hpp"
#include "sim/simulation_size.hpp"

namespace speclab {

/// How a rule is measured.
struct RuleQualityOptions {
  bool lossless = false;       ///< proved elsewhere: its output distribution is the target's
  bool argmax_target = false;  ///< the target means the argmax of its rows

  auto operator<=>(const RuleQualityOptions&) const = default;
};

/// Speculative decoding as by decode_speculatively, without its overlaps. Tallied besides:
/// optimum: the optimal transport bound for `first_drafts` i.i.d. drafts, where a round starts;
/// divergence, for lossless rules: total variation of target and draft, which is the least rejection
///     probability of any lossless scheme of one draft (Yin et al. 2024), where one was examined;
/// distance, for the others, if they accept or replace: total variation of emitted distribution and target
///     there.
Outcome measure_rule_quality(const Model& target, const Model& draft, const AnyRule& rule, std::int32_t gamma,
                             const RuleQualityOptions& how, const SimulationSize& simulation,
                             const Control& control = {});

}  // namespace speclab

// Decodes and measures the rule: besides the counts of a run it tallies the largest possible acceptance, the
// distance of the output from the target, and the rejections that no lossless scheme could avoid. Rounds and
// random numbers are those of sim/decode.hpp.
#pragma once

#include <cstdint>

#include "sim/control.hpp"
#include "sim/simulation_size.hpp"

namespace speclab {

class AnyRule;
class Model;

struct RuleQualityOptions {
  bool lossless = false;       ///< the output distribution is the target's; proved elsewhere
  bool argmax_target = false;  ///< the target's distribution is a point mass on the argmax of its row

  auto operator<=>(const RuleQualityOptions&) const = default;
};

/// Decodes as decode_speculatively does; instead of its overlaps it tallies:
/// - optimum: the optimal transport bound for `first_drafts` i.i.d. drafts, in contexts where a round starts;
/// - divergence, for lossless rules: the total variation of target and draft, which is the smallest rejection
///    probability of any lossless scheme of one draft (Yin et al. 2024), in contexts where a draft was
///    examined;
/// - distance, for other rules of accepting, replacing or matching: the total variation of emitted
/// distribution and
///    target in these contexts.
Outcome measure_rule_quality(const Model& target, const Model& draft, const AnyRule& rule, std::int32_t gamma,
                             const RuleQualityOptions& how, const SimulationSize& simulation,
                             const Control& control = {});

}  // namespace speclab

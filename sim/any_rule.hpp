// Any verification rule, as one value, visited once per run.
#pragma once

#include <variant>

#include "core/rules/all_rules.hpp"

namespace speclab {

using AnyRule =
    std::variant<TokenRule, MatchRule, GumbelRule, RejectionRule, GreedyRule, BlockRule, LenienceRule,
                 GreedyLenienceRule, TypicalRule, CascadeRule, SigmoidRule, RecursiveRule, KSeqRule,
                 ImportanceRule, TreeRule, GrownTreeRule, TraversalRule, AcceptAllFault, ResampleTargetFault,
                 SwappedResidualFault, SharedNoiseFault, UnwrittenBonusFault, ClosedComparisonFault,
                 DraftBonusFault, LateContextFault, BlockPrefixFault, StaleSiblingsFault>;

}  // namespace speclab

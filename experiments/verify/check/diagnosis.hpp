// Which rule, or which planted fault, would have emitted given sequences?
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/token.hpp"
#include "experiments/base/page/table.hpp"
#include "experiments/verify/check/equality_test.hpp"
#include "sim/control.hpp"

namespace speclab {

/// The exact distributions of the first tokens under plain decoding of the target and under every rule and
/// planted fault that can be enumerated with this pair and gamma: fewest impossible sequences first, then by
/// likelihood. Rules that give each of these sequences the same probability, which the sequences cannot tell
/// apart, stand as one, under the name of the first with those of the others; the target stands for all
/// lossless rules. Empty where the target's distribution cannot be computed, or when `control` ended it
/// early.
std::vector<LikelihoodFit> diagnose(const Setup& setup, int gamma, int tokens, std::span<const Token> samples,
                                    const Control& control);

/// The planted faults that emit the target's distribution with this pair and gamma, so that no sample of
/// these tokens can show them; of those that can be enumerated. Empty where the target's distribution cannot
/// be computed, or when `control` ended it early.
std::vector<std::string> unseen_faults(const Setup& setup, int gamma, int tokens, const Control& control);

/// test_samples, and then: where they differ, what the sequences are like; else the planted faults that they
/// could not have shown. None when `control` ended it early.
std::optional<EqualityResult> test_and_diagnose(const Setup& setup, int gamma, const CheckSection& settings,
                                                std::span<const Token> samples, const Control& control);

/// A table for people, and which of them the tests of `speclab check` do not refute at this level.
Listing diagnosis_text(const std::vector<LikelihoodFit>& fits, double level);

}  // namespace speclab

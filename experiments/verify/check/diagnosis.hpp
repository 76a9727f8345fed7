// Finds the rule or planted fault (a deliberate mistake) that most likely emitted given sequences.
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

/// Computes the samples' likelihood under the target and under every rule and planted fault that can be
/// enumerated with this pair and gamma. Returns the fits, those with the fewest impossible sequences first,
/// then by likelihood. Rules that give each sequence the same probability form one entry, named after the
/// first (lossless rules: after the target), which lists the others. Returns nothing if the target's
/// distribution cannot be computed, or if `control` ended it early.
std::vector<LikelihoodFit> diagnose(const Setup& setup, int gamma, int tokens, std::span<const Token> samples,
                                    const Control& control);

/// Returns the planted faults that can be enumerated and emit the target's distribution with this pair and
/// gamma, so that no sample of these tokens can show them. Returns nothing if the target's distribution
/// cannot be computed, or if `control` ended it early.
std::vector<std::string> unseen_faults(const Setup& setup, int gamma, int tokens, const Control& control);

/// Runs test_samples. If the sequences differ, adds their diagnosis; else the planted faults that they could
/// not have shown. Returns nothing if `control` ended it early.
std::optional<EqualityResult> test_and_diagnose(const Setup& setup, int gamma, const CheckSection& settings,
                                                std::span<const Token> samples, const Control& control);

/// Returns a table of the fits, and the rules among them that the tests of `speclab check` do not reject at
/// this level.
Listing diagnosis_text(const std::vector<LikelihoodFit>& fits, double level);

}  // namespace speclab

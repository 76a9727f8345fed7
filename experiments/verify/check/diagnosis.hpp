// Finds the rule or planted fault (a deliberate mistake) that most likely emitted given sequences.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/exact/round_distribution.hpp"
#include "core/token.hpp"
#include "experiments/base/page/table.hpp"
#include "experiments/verify/check/equality_test.hpp"
#include "sim/control.hpp"

namespace speclab {

/// A law of the first tokens, which the samples may have.
struct CandidateLaw {
  std::string name;  ///< of the rule or planted fault
  bool lossless = false;
  SequenceDistribution<double> distribution;
};

/// Selects the candidates besides the target.
enum class Candidates : std::uint8_t { all, planted_faults };

/// Returns the target's law, named "target", and then those of the rules and planted faults that can be
/// enumerated with this pair and gamma. Returns nothing if the target's law cannot be computed, or if
/// `control` ended it early.
std::vector<CandidateLaw> candidate_laws(const Setup& setup, int gamma, int tokens, Candidates candidates,
                                         const Control& control);

/// Computes the samples' likelihood under each law. Returns the fits, those with the fewest impossible
/// sequences first, then by likelihood. Laws that give each sequence the same probability form one entry,
/// named after the first (lossless rules: after the target), which lists the others.
std::vector<LikelihoodFit> diagnose(std::span<const CandidateLaw> laws, std::int32_t vocab, int tokens,
                                    std::span<const Token> samples);

/// Returns the candidates that emit the target's law, so that no sample of these tokens can show them.
std::vector<std::string> unseen(std::span<const CandidateLaw> laws);

/// Runs test_equality. If no difference is found, adds the token that was not compared. Returns nothing if
/// `control` ended it early.
std::optional<EqualityResult> test_rule(const Setup& setup, int gamma, const CheckSection& settings,
                                        const Control& control);

/// Runs test_samples. If the sequences differ, adds their diagnosis; else the planted faults and the token
/// that they could not have shown. Returns nothing if `control` ended it early.
std::optional<EqualityResult> test_and_diagnose(const Setup& setup, int gamma, const CheckSection& settings,
                                                std::span<const Token> samples, const Control& control);

/// Returns a table of the fits, and the rules among them that the tests of `speclab check` do not reject at
/// this level.
Listing diagnosis_text(const std::vector<LikelihoodFit>& fits, double level);

}  // namespace speclab

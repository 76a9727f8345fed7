// Chooses which drafted tokens of a step the target verifies: adaptive verification as in vLLM (at 057929c,
// 2026, vllm/v1/worker/gpu/spec_decode/adaptive_verification.py).
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "serving/server/acceptance_law.hpp"
#include "serving/server/confidence.hpp"
#include "serving/server/step_work.hpp"

namespace speclab {

/// Every round drafts `gamma` tokens; a step verifies a budget of them: the number with the most expected
/// tokens per millisecond, namely those with the largest survival, in whatever request. An engine computes
/// the budget on the host while the previous step runs, so from the confidences of the previous round's
/// drafts (1 for a request without any); the device then chooses drafts by this step's confidences.
struct AdaptiveVerification {
  std::uint32_t gamma = 0;
  /// If empty, confidences come from RecordedRounds.
  std::optional<ConfidenceLaw> confidence{};
  bool waits = false;  ///< the host waits for this step's confidences and computes the budget from them
  double step_ms = 0;  ///< added to every decoding step: ranking and waiting
  StepTime time{};     ///< time of a step, as the engine has measured it
};

/// A decoding sequence.
struct VerifiedSequence {
  std::uint32_t request = 0;
  std::uint32_t round = 0;
  std::uint32_t accepts = 0;         ///< tokens accepted if all `gamma` drafts were verified
  std::uint32_t accepts_before = 0;  ///< the same for the previous round
  bool first = false;                ///< first round since admission; there is no previous one
  std::uint32_t verified = 0;        ///< result of `verify`
};

/// Sets each sequence's `verified`. `plain` is the step's work, with draft runs and without verified drafts.
/// `sampling` counts the sequences that emit a token in any case, including those whose prompt ends.
void verify(const AdaptiveVerification& policy, const AcceptanceDraws& draws, const StepWork& plain,
            double sampling, std::span<VerifiedSequence> sequences);

/// Returns the number of verified drafts with the most expected tokens per millisecond, the smallest among
/// equals: argmax over b of (sampling + sum of the first b scores) / time(plain with b more positions).
std::size_t verification_budget(std::span<const double> scores, double sampling, const StepWork& plain,
                                const StepTime& time);

}  // namespace speclab

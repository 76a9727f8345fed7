// Which of the drafted tokens of a step the target verifies: adaptive verification as in vLLM (at 057929c,
// 2026, vllm/v1/worker/gpu/spec_decode/adaptive_verification.py).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "serving/server/acceptance_law.hpp"
#include "serving/server/confidence.hpp"
#include "serving/server/step_work.hpp"

namespace speclab {

/// Every round drafts `gamma` tokens. How many of the step's are verified, its budget, has the most expected
/// tokens a millisecond; the budget then goes to the drafts of the largest survival, whatever their request.
/// An engine sizes the budget on the host while the step before runs, so that it knows the confidences of the
/// drafts before: 1 for a request that has none. Which drafts they are is decided on the device, by this
/// step's.
struct AdaptiveVerification {
  std::uint32_t gamma = 0;
  /// Without it confidences are those that are recorded with rounds (RecordedRounds).
  std::optional<ConfidenceLaw> confidence{};
  bool waits = false;  ///< the host waits for this step's confidences, and sizes the budget by them
  double step_ms = 0;  ///< of every decoding step, for ranking and waiting
  StepTime time{};     ///< of steps, as the engine has measured it
};

/// A sequence that decodes.
struct VerifiedSequence {
  std::uint32_t request = 0;
  std::uint32_t round = 0;
  std::uint32_t accepts = 0;         ///< of `gamma` drafts, if all were verified
  std::uint32_t accepts_before = 0;  ///< the same in the round before
  bool first = false;                ///< since it was admitted: there is none before
  std::uint32_t verified = 0;        ///< what `verify` decides
};

/// Decides `verified` of all. `plain` is the step with no draft verified and its draft runs; `sampling`
/// counts sequences that emit a token in any case, those whose prompt ends among them.
void verify(const AdaptiveVerification& policy, const AcceptanceDraws& draws, const StepWork& plain,
            double sampling, std::span<VerifiedSequence> sequences);

/// The number of verified drafts with the most expected tokens a millisecond, the smallest of several:
/// argmax over b of (sampling + sum of the first b scores) / time(plain with b more positions).
std::size_t verification_budget(std::span<const double> scores, double sampling, const StepWork& plain,
                                const StepTime& time);

}  // namespace speclab

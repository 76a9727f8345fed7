// The work of one step of an engine, from which its time follows.
#pragma once

#include <functional>

namespace speclab {

/// Sums over the sequences of a step.
struct StepWork {
  double decoding = 0;          ///< sequences that decode
  double verified = 0;          ///< positions of the target's run for decoding: gamma + 1 per sequence
  double prefilling = 0;        ///< sequences that read prompts
  double prefilled = 0;         ///< tokens of prompts
  double context = 0;           ///< cached tokens read
  double decoding_context = 0;  ///< cached tokens read for decoding sequences
  /// Cached tokens that a draft run reads for decoding sequences, at most EngineOptions::draft_budget each.
  double draft_context = 0;
  double drafts = 0;  ///< tokens drafted for each decoding sequence: gamma
};

/// Returns the milliseconds of a step.
using StepTime = std::function<double(const StepWork&)>;

}  // namespace speclab

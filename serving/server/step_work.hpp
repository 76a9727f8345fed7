// What one step of an engine does, from which its time follows.
#pragma once

#include <cstdint>
#include <functional>

namespace speclab {

/// Numbers of all sequences of the step together.
struct StepWork {
  double decoding = 0;          ///< sequences that decode
  double verified = 0;          ///< positions of the target's run over them: gamma + 1 each
  double prefilling = 0;        ///< sequences whose prompts are read
  double prefilled = 0;         ///< tokens of prompts
  double context = 0;           ///< tokens of caches that are read, of all sequences
  double decoding_context = 0;  ///< of the decoding ones alone
  /// Tokens of caches that a draft run reads for the decoding sequences: at most EngineOptions::draft_budget
  /// of each.
  double draft_context = 0;
  double drafts = 0;    ///< tokens drafted for each decoding sequence: gamma
  double replayed = 0;  ///< positions that are run again after a partial acceptance
};

/// Milliseconds of a step.
using StepTime = std::function<double(const StepWork&)>;

}  // namespace speclab

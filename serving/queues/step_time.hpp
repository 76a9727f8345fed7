// How long a step of a serving engine takes: by the costs of a pair, or a fitted linear function.
#pragma once

#include <vector>

#include "analysis/cost/cost_model.hpp"
#include "serving/server/step_work.hpp"

namespace speclab {

/// Costs of a step besides both models' runs.
struct StepExtras {
  double step_ms = 0;         ///< scheduler and host, added to every step
  bool draft_follows = true;  ///< at gamma = 0 the draft also reads the new token, to keep its cache complete
};

/// Returns the time of a step. The target runs once over all positions of the step, prompts included, as if
/// they were shared out evenly among its sequences: the roofline's work is exact for weights and caches, and
/// attention in a mixed step is that of the mean lengths. The draft makes gamma tokens for each decoding
/// sequence, in gamma runs or in one (DraftRuns), and reads the prompts.
StepTime step_time(const CostPair& costs, const StepExtras& extras);

/// A point of an engine's measured curve: the time of a step by its number of tokens.
struct TokenPoint {
  double tokens = 0;
  double ms = 0;
};

/// The milliseconds of a step are the sum of these terms.
struct LinearStep {
  double step = 0;                 ///< per step
  double sequence = 0;             ///< per decoding sequence
  double position = 0;             ///< per verified position
  double prompt_token = 0;         ///< per prompt token, both models
  double context_token = 0;        ///< per cached token that is read
  double mixed = 0;                ///< per step that both decodes and reads prompts
  double speculation = 0;          ///< per step with gamma above 0
  double idle_draft = 0;           ///< per step with gamma 0, for an engine that still runs its draft
  double draft_run = 0;            ///< per drafted token of a sequence (gamma times)
  double draft_sequence = 0;       ///< per drafted token and decoding sequence
  double draft_context_token = 0;  ///< per drafted token and cached token that the draft reads
  /// Time by the step's tokens (verified and prompts), points in increasing order: linear between them,
  /// constant below the first, last slope continued beyond the last.
  std::vector<TokenPoint> by_tokens{};
};
StepTime step_time(const LinearStep& costs);

}  // namespace speclab

// How long a step of a serving engine takes: by the costs of a pair of models, or as a linear function that
// was fitted to measurements.
#pragma once

#include <vector>

#include "analysis/cost/speculation_cost.hpp"
#include "serving/server/step_work.hpp"

namespace speclab {

/// What a step costs beside the runs of both models.
struct StepExtras {
  double step_ms = 0;         ///< scheduler and host, of every step
  bool draft_follows = true;  ///< at gamma = 0 the draft reads the new token, to keep its cache whole
};

/// The target runs once over all positions of the step, prompts included, as if they were shared out evenly
/// among its sequences: the roofline's work is exact in weights and caches, and the attention of a mixed step
/// is that of its means. The draft makes gamma tokens of each decoding sequence, by as many runs or by one
/// (DraftRuns), and reads the prompts. Replayed positions are one more target run.
StepTime step_time(const CostPair& costs, const StepExtras& extras);

/// The same where drafts are made on another device, as serving/server/draft_device.hpp wants it: the
/// target's part, and that of the draft runs. The draft device reads prompts while the target does.
StepTime target_time(const CostPair& costs, const StepExtras& extras);
StepTime draft_time(const CostPair& costs);

/// A step of so many tokens takes so long: a point of an engine's own curve.
struct TokenPoint {
  double tokens = 0;
  double ms = 0;
};

/// Milliseconds that add up.
struct LinearStep {
  double step = 0;            ///< of a step
  double sequence = 0;        ///< of a decoding sequence
  double position = 0;        ///< of a verified position
  double prompt_token = 0;    ///< of both models
  double context_token = 0;   ///< of a token of a cache that is read
  double mixed = 0;           ///< of a step that decodes and reads prompts
  double speculation = 0;     ///< of a step with gamma above 0
  double idle_draft = 0;      ///< of a step with gamma 0, where an engine keeps its draft up all the same
  double draft_run = 0;       ///< of each of gamma
  double draft_sequence = 0;  ///< of each of gamma, for each decoding sequence
  double draft_context_token = 0;  ///< of each of gamma, for each token of a cache that it reads
  /// Of a step by its tokens, verified and of prompts, increasing; between two points a line, below the first
  /// its time, and beyond the last its slope goes on.
  std::vector<TokenPoint> by_tokens{};
};
StepTime step_time(const LinearStep& costs);
/// Of a target and a draft on devices of their own.
StepTime target_time(const LinearStep& costs);
StepTime draft_time(const LinearStep& costs);

}  // namespace speclab

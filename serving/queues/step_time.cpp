#include "serving/queues/step_time.hpp"

#include <algorithm>

namespace speclab {

namespace {

double on_curve(const std::vector<TokenPoint>& points, double tokens) {
  if (points.empty()) return 0;
  if (points.size() == 1 || tokens <= points.front().tokens) return points.front().ms;
  const auto beyond = std::find_if(points.begin() + 1, points.end() - 1,
                                   [&](const TokenPoint& point) { return tokens <= point.tokens; });
  const TokenPoint& high = *beyond;
  const TokenPoint& low = *(beyond - 1);
  return low.ms + (high.ms - low.ms) * (tokens - low.tokens) / (high.tokens - low.tokens);
}

}  // namespace

StepTime step_time(const CostPair& costs, const StepExtras& extras) {
  return [costs, extras](const StepWork& work) {
    const double sequences = work.decoding + work.prefilling;
    double ms = extras.step_ms;
    if (sequences > 0) {
      ms += run_ms(costs.target, {(work.verified + work.prefilled) / sequences, sequences,
                                  work.context / sequences, (work.verified + work.prefilling) / sequences});
    }
    if (work.prefilling > 0) {
      ms += reading_ms(costs, {work.prefilled / work.prefilling, work.prefilling,
                               (work.context - work.decoding_context) / work.prefilling});
    }
    if (work.decoding > 0) {
      const Operation at{work.decoding, work.draft_context / work.decoding};
      ms += drafting_ms(costs, work.drafts, at);
      if (work.drafts == 0 && extras.draft_follows) ms += reading_ms(costs, {1, at.batch, at.context});
    }
    return ms;
  };
}

StepTime step_time(const LinearStep& costs) {
  return [costs](const StepWork& work) {
    const double target = on_curve(costs.by_tokens, work.verified + work.prefilled) + costs.step +
                          costs.sequence * work.decoding + costs.position * work.verified +
                          costs.prompt_token * work.prefilled + costs.context_token * work.context +
                          (work.decoding > 0 && work.prefilled > 0 ? costs.mixed : 0);
    const double draft = work.drafts * (costs.draft_run + costs.draft_sequence * work.decoding +
                                        costs.draft_context_token * work.draft_context);
    return target + (work.decoding == 0 ? 0 : work.drafts > 0 ? costs.speculation : costs.idle_draft) + draft;
  };
}

}  // namespace speclab

// What the roofline says of a plan on a device: times, bounds, memory, traffic and energy.
#pragma once

#include "experiments/plan/planning.hpp"

namespace speclab {

/// {plain_ms, plain_tokens_per_second, speculative_tokens_per_second, verify_ms, draft_ms, compute_bound (of
/// plain runs), intensity, balance, memory {...}, bytes_per_token and joules_per_token [plain,
/// speculative]}; null unless the target's cost is a roofline. Numbers that need the draft's shape are null
/// without it.
Json device_plan(const Drafter& drafter, const PlanSettings& settings, int gamma, double tokens_per_round);

/// Batches to plan for: those that fit into memory beside both models, at most `max_batch`, and always the
/// one that was asked about.
int largest_planned_batch(const Drafter& drafter, const PlanSettings& settings);

}  // namespace speclab

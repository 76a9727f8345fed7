// What the roofline says of a plan on a device: times, bounds, memory, traffic and energy.
#pragma once

#include <optional>

#include "experiments/plan/plan_result.hpp"
#include "experiments/plan/planning.hpp"

namespace speclab {

/// None unless the target's cost is a roofline. Numbers that need the draft's shape are left out without it.
std::optional<DeviceFindings> device_plan(const Drafter& drafter, const PlanSettings& settings, int gamma,
                                          double tokens_per_target_step);

/// Batches to plan for: those that fit into memory beside both models, at most `max_batch`, and always the
/// one that was asked about.
int largest_planned_batch(const Drafter& drafter, const PlanSettings& settings);

}  // namespace speclab

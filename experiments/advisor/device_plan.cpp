// What the roofline says of a plan on a device: times, bounds, memory, traffic and energy.
#include <algorithm>
#include <cmath>

#include "experiments/advisor/planning.hpp"

namespace speclab {

namespace {

double fitting_batch(const Drafter& drafter, const PlanSettings& settings) {
  const auto& target = std::get<RooflineCost>(drafter.costs.target);
  const auto* draft = std::get_if<RooflineCost>(&drafter.costs.draft);
  return largest_batch(target.machine, target.model, draft == nullptr ? nullptr : &draft->model,
                       settings.at.context, settings.memory_share);
}

}  // namespace

int largest_planned_batch(const Drafter& drafter, const PlanSettings& settings) {
  double most = settings.max_batch;
  if (std::holds_alternative<RooflineCost>(drafter.costs.target)) {
    most = std::min(most, fitting_batch(drafter, settings));
  }
  return static_cast<int>(std::max({most, settings.at.batch, 1.0}));
}

std::optional<DeviceFindings> device_plan(const Drafter& drafter, const PlanSettings& settings, int gamma,
                                          double tokens_per_target_step) {
  const auto* target = std::get_if<RooflineCost>(&drafter.costs.target);
  if (target == nullptr) return std::nullopt;
  const auto* draft = std::get_if<RooflineCost>(&drafter.costs.draft);
  const Machine& machine = target->machine;
  const Run plain{1, settings.at.batch, settings.at.context};
  const RunTime time = run_time(machine, target->model, plain);

  DeviceFindings found;
  found.name = machine.device.name;
  found.devices = machine.devices;
  found.source = machine.device.source;
  found.plain_ms = 1000 * time.total();
  found.draft_ms = run_ms(drafter.costs.draft, plain);
  found.verify_ms = run_ms(drafter.costs.target, {gamma + 1.0, settings.at.batch, settings.at.context});
  const double round_ms = found.verify_ms + gamma * found.draft_ms;
  found.plain_tokens_per_second = settings.at.batch / time.total();
  found.speculative_tokens_per_second = 1000 * settings.at.batch * tokens_per_target_step / round_ms;
  found.compute_bound = time.compute_bound();
  found.intensity = work(target->model, plain, machine.precision).intensity();
  found.balance = peak_flops(machine) / (machine.devices * machine.device.bandwidth);

  DeviceMemory& memory = found.memory;
  const double weight_bytes = machine.precision.weight_bytes;
  memory.target_weights = parameters(target->model) * weight_bytes;
  memory.cache_per_sequence = cache_bytes(target->model, settings.at.context, machine.precision);
  memory.usable = settings.memory_share * machine.devices * machine.device.memory;
  const double fitting = fitting_batch(drafter, settings);
  if (std::isfinite(fitting)) memory.largest_batch = fitting;
  if (draft == nullptr) return found;

  memory.draft_weights = parameters(draft->model) * weight_bytes;
  memory.cache_per_sequence += cache_bytes(draft->model, settings.at.context, draft->machine.precision);
  const TokenWork before = work_per_token(*target, *draft, 0, 1, settings.at);
  const TokenWork after = work_per_token(*target, *draft, gamma, tokens_per_target_step, settings.at);
  found.bytes_per_token = PlainAndSpeculative{before.bytes, after.bytes};
  found.joules_per_token = PlainAndSpeculative{before.joules, after.joules};
  return found;
}

}  // namespace speclab

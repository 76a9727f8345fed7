#include "analysis/cost/device_speed.hpp"

#include <cmath>
#include <variant>

namespace speclab {

std::optional<DeviceMemory> device_memory(const CostPair& costs, const Operation& at, double share,
                                          double gamma) {
  const auto* target = std::get_if<RooflineCost>(&costs.target);
  if (target == nullptr) return std::nullopt;
  const auto* draft = std::get_if<RooflineCost>(&costs.draft);
  const Machine& machine = target->machine;
  DeviceMemory memory;
  memory.target_weights = weight_bytes(target->model, machine.precision);
  const double state = state_bytes(machine, target->model, gamma);
  if (state > 0) memory.state_per_sequence = state;
  memory.cache_per_sequence = cache_bytes(machine, target->model, at.context) + state;
  if (const double index = target->model.index_bytes; index > 0) {
    memory.counted_weights = memory.target_weights;
    memory.target_weights = index;
  }
  memory.usable = share * machine.devices * machine.device.memory;
  if (draft != nullptr) {
    memory.draft_weights = weight_bytes(draft->model, draft->machine.precision);
    memory.cache_per_sequence +=
        cache_bytes(draft->machine, draft->model, at.context) + state_bytes(draft->machine, draft->model, 0);
  }
  const double free = memory.usable - memory.weights();
  if (free < 0) {
    memory.largest_batch = -1;
  } else if (memory.cache_per_sequence > 0) {
    memory.largest_batch = std::floor(free / memory.cache_per_sequence);
  }
  return memory;
}

std::optional<int> devices_that_hold(CostPair costs, const Operation& at, double share, double gamma) {
  auto* const target = std::get_if<RooflineCost>(&costs.target);
  auto* const draft = std::get_if<RooflineCost>(&costs.draft);
  const bool together =
      target != nullptr && draft != nullptr && draft->machine.devices == target->machine.devices;
  const auto divide = [](const Transformer& model, int devices) {
    return model.heads % devices == 0 &&
           (model.kv_heads == 0 || model.kv_heads % devices == 0 || devices % model.kv_heads == 0);
  };
  constexpr int most = 1024;
  for (int devices = 1; target != nullptr && devices <= most; ++devices) {
    if (!divide(target->model, devices) || (together && !divide(draft->model, devices))) continue;
    target->machine.devices = devices;
    if (together) draft->machine.devices = devices;
    if (device_memory(costs, at, share, gamma)->holds(at.batch)) return devices;
  }
  return std::nullopt;
}

std::optional<DeviceFindings> device_speed(const CostPair& costs, const Operation& at, double share,
                                           int gamma, double tokens_per_round) {
  const auto* target = std::get_if<RooflineCost>(&costs.target);
  if (target == nullptr) return std::nullopt;
  const Machine& machine = target->machine;
  const Run plain{1, at.batch, at.context};
  const DeviceMemory memory = *device_memory(costs, at, share, gamma);
  const RunTime time = run_time(machine, target->model, plain);
  constexpr double milli = 1e3;

  DeviceFindings found;
  found.name = machine.device.name;
  found.devices = machine.devices;
  found.source = machine.device.source;
  found.plain_ms = milli * time.total();
  found.draft_ms = drafting_ms(costs, drafted_in_one_run(costs, gamma).value_or(1), at);
  found.verify_ms = run_ms(costs.target, verifying(gamma, at));
  const double round_ms = found.verify_ms + drafting_ms(costs, gamma, at);
  found.plain_tokens_per_second = at.batch / time.total();
  found.speculative_tokens_per_second = milli * at.batch * tokens_per_round / round_ms;
  found.compute_bound = time.compute_bound();
  found.intensity = work(machine, target->model, plain).intensity();
  found.balance = peak_flops(machine) / (machine.devices * machine.device.bandwidth);
  found.memory = memory;
  return found;
}

}  // namespace speclab

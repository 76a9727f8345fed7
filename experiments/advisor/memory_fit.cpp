#include "experiments/advisor/memory_fit.hpp"

#include <fmt/format.h>

#include <variant>

#include "analysis/cost/device_speed.hpp"
#include "experiments/page/cells.hpp"

namespace speclab {

std::optional<MemoryFit> memory_fit(const CostPair& costs, const Operation& at, double share) {
  const std::optional<DeviceMemory> memory = device_memory(costs, at, share);
  if (!memory) return std::nullopt;
  if (memory->holds(at.batch)) return MemoryFit{};
  const Machine& machine = std::get<RooflineCost>(costs.target).machine;
  const std::string usable = fmt::format("{:.4g} GB, {:.3g}% of the memory of {} × {}", memory->usable / giga,
                                         100 * share, machine.devices, machine.device.name);
  const double needed = devices_that_hold(*memory, at.batch, machine.devices);
  std::string reason;
  if (!memory->weights_fit()) {
    reason = fmt::format("{:.4g} GB of weights do not fit into {}.", memory->weights() / giga, usable);
  } else {
    reason = fmt::format("A batch of {:.6g} does not fit: beside {:.4g} GB of weights {} of {:.6g} tokens fit into {}.",
                         at.batch, memory->weights() / giga,
                         *memory->largest_batch == 0 ? std::string("no caches")
                                                     : fmt::format("caches of at most {:.0f} sequences", *memory->largest_batch),
                         at.context, usable);
  }
  reason += fmt::format(" {:.0f} devices would hold a batch of {:.6g}.", needed, at.batch);
  return MemoryFit{false, reason};
}

std::string hypothetical_text(const std::string& reason) {
  return "DOES NOT FIT: " + reason + "\nWhat follows supposes enough memory, and no settings are given.\n\n";
}

}  // namespace speclab

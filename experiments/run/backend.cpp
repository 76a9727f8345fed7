#include "experiments/run/backend.hpp"

#include <fmt/format.h>

#include "experiments/base/format/config_error.hpp"
#include "kernels/gpu/device.hpp"

namespace speclab {

Backend backend_named(const std::string& name) {
  if (name == "cpu") return Backend::cpu;
  if (name != "cuda")
    throw UsageError("--backend: unknown \"{}\"{}", name, suggestion(name, {"cpu", "cuda"}));
  const std::string reason = why_no_device();
  if (!reason.empty()) {
    throw UsageError("--backend cuda: there is no GPU to run on ({}); --backend cpu gives the same bytes",
                     reason);
  }
  return Backend::cuda;
}

std::optional<DeviceTimings> device_timings(Backend backend) {
  const auto device = backend == Backend::cuda ? current_device() : std::nullopt;
  if (!device) return std::nullopt;
  return DeviceTimings{
      .name = device->name,
      .compute_capability = fmt::format("{}.{}", device->capability / 10, device->capability % 10),
      .driver = device->driver,
      .runtime = device->runtime};
}

}  // namespace speclab

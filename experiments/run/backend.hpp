// Selects, by name, the device that simulates rounds, and describes it.
#pragma once

#include <optional>
#include <string>

#include "experiments/run/timings.hpp"

namespace speclab {

/// Where rounds are simulated. `emulated` runs the CUDA kernels on the CPU, thread by thread, for tests.
enum class Backend { cpu, cuda, emulated };

/// Returns the backend with this command-line name, ready for use. Throws UsageError for an unknown name, and
/// for cuda without a device, with the reason.
Backend backend_named(const std::string& name);

/// Returns the device in use, for timings.json; empty for other backends.
std::optional<DeviceTimings> device_timings(Backend backend);

}  // namespace speclab

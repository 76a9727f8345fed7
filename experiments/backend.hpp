// Where rounds are simulated, by name, and the device there.
#pragma once

#include <string>

#include "experiments/format/shape.hpp"

namespace speclab {

/// `emulated` runs the kernels on the CPU, thread by thread: for tests.
enum class Backend { cpu, cuda, emulated };

/// The backend of this name on the command line, ready to be used. Throws UsageError for an unknown name, and
/// for cuda where there is no device, saying why.
Backend backend_named(const std::string& name);

/// The device in use, for timings.json: name, compute capability, driver and runtime. Null for the others.
Json backend_json(Backend backend);

/// The same for people: "NVIDIA H200, driver 13.0, runtime 13.0"; empty for the others.
std::string device_words(Backend backend);

}  // namespace speclab

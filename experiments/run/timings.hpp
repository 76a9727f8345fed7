// timings.json: measurements that depend on the machine, kept apart from the result.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "experiments/base/format/any_struct.hpp"
#include "experiments/base/format/fields.hpp"

namespace speclab {

/// The GPU that simulated.
struct DeviceTimings {
  std::string name;
  std::string compute_capability;
  std::string driver;
  std::string runtime;
};

struct Timings {
  AnyStruct own = {};  ///< the experiment's own measurements; see Experiment::own_timings
  std::optional<DeviceTimings> device;
  double seconds = 0;
  std::int32_t threads = 0;
  std::string machine;
  std::optional<std::string> version = {};  ///< includes the commit
  std::optional<std::string> command = {};  ///< shell command that made the result
};

/// Describes an experiment's timings.json: the common part, and its own measurements of type `own` (null:
/// none).
Typed<Timings> timings_type(const TypePtr& own);

}  // namespace speclab

// The measurements that depend on the machine, kept apart from the result: timings.json.
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
  std::optional<std::string> command = {};  ///< command that produced the result, for a shell
};

/// Describes timings.json of an experiment: its own measurements, described by `own` (null for none), and the
/// common part.
Typed<Timings> timings_type(const TypePtr& own);

}  // namespace speclab

// What depends on the machine and stands apart from the result: timings.json.
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
  AnyStruct own = {};  ///< what the experiment alone measured; see Experiment::own_timings
  std::optional<DeviceTimings> device;
  double seconds = 0;
  std::int32_t threads = 0;
  std::string machine;
  std::optional<std::string> version = {};  ///< with the commit that it was built from
  std::optional<std::string> command = {};  ///< that gave the result, for a shell
};

/// timings.json of an experiment: what it alone measured, as `own` describes it (null for nothing), and what
/// all have.
Typed<Timings> timings_type(const TypePtr& own);

}  // namespace speclab

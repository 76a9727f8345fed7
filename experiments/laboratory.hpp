// Runs a config: its cells, their simulations, and the numbers of each beside the formula's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "experiments/backend.hpp"
#include "experiments/format/shape.hpp"
#include "sim/control.hpp"

namespace speclab {

/// What a config gave. `result` depends on the config alone: the same bytes at any number of threads. Timings
/// of the machine stand apart.
struct Findings {
  Json result;
  Json timings;
};

/// A resolved config with the section of its experiment ("trace", "search", "walltime", "beam",
/// "calibration", "verifiers", "schedules") written out, as results carry it.
Json with_sections(Json resolved);

/// How much a config would run. Throws ConfigError for a config that cannot be run.
struct Workload {
  std::size_t cells = 0;
  std::uint64_t steps = 0;  ///< rounds, tokens of acceptance measurements, steps of beam searches, sequences
};
Workload measure_workload(const Json& input);

/// Runs the config (as read from its file, with overrides applied). Cells that `earlier`, the result of an
/// interrupted run of the same config, holds whole are taken from it. `control_for(total)` is asked once the
/// amount of work, in rounds, is known. Throws ConfigError for a config that cannot be run, or not on this
/// backend. The result is the same on all of them; timings name the device.
Findings run_config(const Json& input, const std::function<Control(std::uint64_t total)>& control_for,
                    const Json& earlier = Json(), Backend backend = Backend::cpu);

}  // namespace speclab

// Runs a config: its cells, their simulations, and what each experiment makes of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>

#include "experiments/run/backend.hpp"
#include "experiments/run/experiment.hpp"

namespace speclab {

/// `result` depends on the config alone: the same bytes at any number of threads.
struct RunResult {
  Result result;
  Timings timings;
};

/// How much a config would run.
struct Workload {
  std::size_t cells = 0;
  std::uint64_t steps = 0;  ///< rounds, tokens of acceptance measurements, steps of beam searches, sequences
};

/// Builds everything that the config names. Throws ConfigError for a config that cannot be run.
Workload measure_workload(const Config& config);

/// The config with the sections of its experiment written out, as results carry it.
Config with_sections(Config config);

/// Runs the config. Cells that `earlier`, the result of an interrupted run of the same config, holds whole
/// are taken from it. `control_for(total)` is asked once the amount of work, in steps, is known. Throws
/// ConfigError for a config that cannot be run, or not on this backend. The result is the same on all of
/// them; timings name the device.
RunResult run_config(const Config& config, const std::function<Control(std::uint64_t total)>& control_for,
                     const std::optional<Result>& earlier = std::nullopt, Backend backend = Backend::cpu);

}  // namespace speclab

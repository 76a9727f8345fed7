// Any schedule as one value, and many of them over the same sequences.
#pragma once

#include <cstdint>
#include <functional>
#include <variant>
#include <vector>

#include "sim/control.hpp"
#include "sim/schedules/batched.hpp"
#include "sim/schedules/dsi.hpp"
#include "sim/schedules/hierarchical.hpp"
#include "sim/schedules/pearl.hpp"
#include "sim/schedules/rounds.hpp"
#include "sim/schedules/speculative_function_execution.hpp"

namespace speclab {

using AnySchedule = std::variant<Plain, Speculative, Oracle, Heads, Hierarchical, Dsi, Pearl,
                                 SpeculativeFunctionExecution, Batched>;

/// Plays a schedule over one sequence until it has text.tokens tokens. `events` is NoEvents or an EventLog.
template <class Events>
Elapsed run_schedule(const AnySchedule& schedule, const Acceptances& text, Events& events) {
  return std::visit([&](const auto& kind) { return run_schedule(kind, text, events); }, schedule);
}

/// What all schedules did, trial by trial.
struct ScheduleRuns {
  std::vector<std::vector<Elapsed>> trials;  ///< trials[trial][schedule]; empty when stopped
  std::vector<std::uint64_t> accepted;       ///< of each trial's first simulation.length positions
};

/// The acceptances of one trial, by position.
using MakeBits = std::function<AcceptanceBits(std::uint32_t trial)>;

/// Every schedule over the same simulation.trials sequences of simulation.length tokens, in parallel over
/// trials. `bits` gives at least simulation.length positions; what schedules read beyond them counts as
/// rejected. Progress counts tokens times schedules.
ScheduleRuns run_schedules(const std::vector<AnySchedule>& schedules, const SimulationSize& simulation,
                           const MakeBits& bits, const Control& control = {});

}  // namespace speclab

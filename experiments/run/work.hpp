// What one cell of a config runs, as its experiment prepares it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "sim/control.hpp"

namespace speclab {

struct CellResult;
struct Job;
struct Timings;

/// What a cell's part of the result is made with.
struct RunContext {
  double confidence;  ///< of every interval
  const Control& control;
  Timings& timings;
};

/// The work of one cell. Its cell and its jobs outlive it.
struct Work {
  /// Simulations (JobList), which run in parallel with those of other cells; several cells may share one.
  std::vector<Job*> jobs = {};
  /// Fills in the result, which has what the cell sets already, from what the jobs gave. Throws Stopped
  /// (core/stop.hpp) when it is ended before it has anything to show.
  std::function<void(CellResult& result, const RunContext& context)> finish;
  /// Of a `finish` that works for a noticeable time, and so is left out after an interrupt: its steps, in the
  /// unit of Control::progress, or 0 for steps that nobody counts. None: it only describes the jobs.
  std::optional<std::uint64_t> own_steps = {};
};

}  // namespace speclab

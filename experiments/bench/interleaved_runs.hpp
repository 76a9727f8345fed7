// Times several jobs side by side. Clock rates, neighbours and memory change over time, so repetitions run in
// random order: all jobs meet the same conditions and ratios of their times hold.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "analysis/statistics/medians.hpp"

namespace speclab {

using TimedJob = std::function<void()>;

/// The times of a job's repetitions, in no particular order.
struct Timing {
  std::vector<double> processor_seconds;  ///< processor time of the calling thread
  std::vector<double> wall_seconds;
};

/// Runs every job `repetitions` times with Google Benchmark in this thread, one at a time in random order,
/// and calls `done` after each. Throws Stopped (core/stop.hpp). Not thread-safe: Google Benchmark keeps jobs
/// in global variables.
std::vector<Timing> measure_interleaved(
    const std::vector<TimedJob>& jobs, int repetitions, const std::function<void()>& done = [] {});

/// Returns the interquartile range divided by the median; 0 for fewer than 2 values.
double spread(std::vector<double> values);

}  // namespace speclab

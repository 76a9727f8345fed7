// Measures several jobs side by side. A machine's clock, neighbours and memory change over time. Jobs are
// therefore repeated in random order within one run, so that all meet the same conditions and their ratios
// hold.
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

/// Runs every job `repetitions` times with Google Benchmark, one at a time in this thread, in random order,
/// and calls `done` after each. Throws Stopped if the work shall end earlier (core/stop.hpp). Must not be
/// called from two threads: Google Benchmark keeps its jobs in global variables.
std::vector<Timing> measure_interleaved(
    const std::vector<TimedJob>& jobs, int repetitions, const std::function<void()>& done = [] {});

/// Returns the interquartile range of the values over their median; 0 for fewer than 2 values.
double spread(std::vector<double> values);

}  // namespace speclab

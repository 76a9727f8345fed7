// Measuring several things beside one another. A machine drifts: its clock, its neighbours, its memory. Jobs
// are repeated in random order within one run, so that each meets the same machine and their ratios hold.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "analysis/statistics/medians.hpp"

namespace speclab {

using TimedJob = std::function<void()>;

/// What the repetitions of a job took, in no particular order.
struct Timing {
  std::vector<double> processor_seconds;  ///< of the calling thread
  std::vector<double> wall_seconds;
};

/// Runs every job `repetitions` times by Google Benchmark, one at a time in this thread, in random order.
/// `done` is called after each. Throws Stopped where they shall end before (core/stop.hpp). Not to be called
/// from two threads: Google Benchmark keeps its jobs in global variables.
std::vector<Timing> measure_interleaved(
    const std::vector<TimedJob>& jobs, int repetitions, const std::function<void()>& done = [] {});

/// Half of the values lie within so wide a stretch around the median, as a share of it (the interquartile
/// range over the median); 0 of fewer than 2.
double spread(std::vector<double> values);

}  // namespace speclab

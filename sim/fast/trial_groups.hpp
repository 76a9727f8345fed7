// Divides trials among threads, and decides when they report. Each thread decodes several trials at once.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <utility>

#include "sim/parallel.hpp"
#include "sim/simulation_size.hpp"

namespace speclab {

/// The next round at which a trial reports its counts, and the batch of the rounds until then.
struct TrialGoal {
  std::uint32_t batch;
  std::uint32_t goal;
};

/// Returns the next end of a batch or of the trial, at most `stretch` rounds away, so that `Control` is
/// called that often.
inline TrialGoal next_goal(const SimulationSize& simulation, std::uint32_t trial, std::uint32_t round,
                           std::uint32_t stretch) {
  const std::uint64_t start = std::uint64_t{trial} * simulation.length;
  const std::uint32_t batch = simulation.batch_of(trial, round);
  const std::uint64_t batch_end = simulation.batch_end(batch) - start;
  const std::uint64_t goal =
      std::min({batch_end, std::uint64_t{simulation.length}, std::uint64_t{round} + stretch});
  return {batch, static_cast<std::uint32_t>(goal)};
}

/// The work of one thread: trials first..last-1. It writes to `outcome` under the mutex.
struct GroupRun {
  std::uint32_t first;
  std::uint32_t last;
  std::atomic<bool>& stopped;
  Outcome& outcome;
  std::mutex& mutex;
};

/// Calls run(group) for all trials of `simulation`. Few trials are divided evenly; many are divided into
/// several groups per thread, of at least `streams` trials each.
template <class Run>
Outcome run_in_groups(const SimulationSize& simulation, std::size_t streams, const Run& run) {
  Outcome outcome;
  outcome.batches.resize(simulation.cut().count());
  std::mutex mutex;
  std::atomic<bool> stopped{false};
  const std::pair range = simulation.trials_to_run();
  const std::uint64_t trials = range.second - range.first;  // in 64 bits: sums below can pass 2^32
  const auto threads = static_cast<std::uint64_t>(concurrency());
  const std::uint64_t share = (trials + threads - 1) / threads;
  const std::uint64_t helping = share > 4 * streams ? (share + 3) / 4 : share;
  for_each_index((trials + helping - 1) / helping, [&](std::size_t index) {
    const std::uint64_t begin = index * helping;
    run(GroupRun{static_cast<std::uint32_t>(range.first + begin),
                 static_cast<std::uint32_t>(range.first + std::min(begin + helping, trials)), stopped,
                 outcome, mutex});
    return !stopped;
  });
  outcome.partial = stopped;
  return outcome;
}

}  // namespace speclab

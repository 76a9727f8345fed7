#include "sim/schedules/schedule.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <numeric>

#include "sim/parallel.hpp"

namespace speclab {

ScheduleRuns::ScheduleRuns(std::size_t trials, std::size_t schedules)
    : trials_(trials), schedules_(schedules) {
  // Enough blocks for many threads, yet each holds many trials.
  constexpr std::size_t blocks = 4096;
  block_ = std::max<std::size_t>(1, trials / blocks);
  blocks_.resize((trials + block_ - 1) / block_);
}

ScheduleRuns run_schedules(const std::vector<AnySchedule>& schedules, const SimulationSize& simulation,
                           const MakeBits& bits, const Control& control) {
  ScheduleRuns runs(simulation.trials, schedules.size());
  std::atomic<bool> stopped{false};
  for_each_index(runs.blocks_.size(), [&](std::size_t index) {
    ScheduleRuns::Block& block = runs.blocks_[index];
    const std::size_t first = index * runs.block_;
    const std::size_t last = std::min(first + runs.block_, runs.trials_);
    for (std::size_t trial = first; trial < last; ++trial) {
      if (control.ends(stopped)) return false;
      const auto number = static_cast<std::uint32_t>(trial);
      const AcceptanceBits positions = bits(number);
      const Acceptances text{positions, simulation.length, simulation.seed, number};
      for (const AnySchedule& schedule : schedules) block.elapsed.push_back(schedule.run(text));
      block.accepted.push_back(
          std::accumulate(positions.begin(), positions.begin() + simulation.length, std::uint64_t{0}));
      control.progress(std::uint64_t{simulation.length} * schedules.size());
    }
    return true;
  });
  if (stopped) runs = {};
  return runs;
}

}  // namespace speclab

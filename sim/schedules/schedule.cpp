#include "sim/schedules/schedule.hpp"

#include <atomic>
#include <cstddef>
#include <numeric>

#include "sim/parallel.hpp"

namespace speclab {

ScheduleRuns run_schedules(const std::vector<AnySchedule>& schedules, const SimulationSize& simulation,
                           const MakeBits& bits, const Control& control) {
  ScheduleRuns runs;
  runs.trials.resize(simulation.trials);
  runs.accepted.resize(simulation.trials);
  std::atomic<bool> stopped{false};
  for_each_index(simulation.trials, [&](std::size_t index) {
    if (stopped || control.stop()) {
      stopped = true;
      return false;
    }
    const auto trial = static_cast<std::uint32_t>(index);
    const AcceptanceBits positions = bits(trial);
    const Acceptances text{positions, simulation.length, simulation.seed, trial};
    for (const AnySchedule& schedule : schedules) runs.trials[index].push_back(schedule.run(text));
    runs.accepted[index] =
        std::accumulate(positions.begin(), positions.begin() + simulation.length, std::uint64_t{0});
    control.progress(std::uint64_t{simulation.length} * schedules.size());
    return true;
  });
  if (stopped) runs = {};
  return runs;
}

}  // namespace speclab

#include "experiments/bench/interleaved_runs.hpp"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <string>

#include "core/stop.hpp"

namespace speclab {

namespace {

/// Collects the runs. Jobs are registered under their numbers.
class Collector : public benchmark::BenchmarkReporter {
 public:
  explicit Collector(std::size_t jobs) : timings(jobs) {}

  bool ReportContext(const Context&) override { return true; }

  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) {
      if (run.run_type != Run::RT_Iteration || run.error_occurred) continue;
      Timing& timing = timings[std::stoul(run.run_name.function_name)];
      timing.processor_seconds.push_back(run.cpu_accumulated_time);
      timing.wall_seconds.push_back(run.real_accumulated_time);
    }
  }

  std::vector<Timing> timings;
};

void run_job(benchmark::State& state, const TimedJob& job, const std::function<void()>& done) {
  if (stop_asked()) state.SkipWithError("interrupted");
  for (auto _ : state) job();
  done();
}

/// Turns on random interleaving; Google Benchmark takes its settings as a command line.
void interleave() {
  std::string program = "speclab";
  std::string setting = "--benchmark_enable_random_interleaving=true";
  std::array<char*, 3> words{program.data(), setting.data(), nullptr};
  int count = 2;
  benchmark::Initialize(&count, words.data());
}

/// Interpolates linearly between the sorted values; `at` is in [0, 1].
double quantile(const std::vector<double>& sorted, double at) {
  const double position = at * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], position - static_cast<double>(below));
}

}  // namespace

std::vector<Timing> measure_interleaved(const std::vector<TimedJob>& jobs, int repetitions,
                                        const std::function<void()>& done) {
  if (jobs.empty()) return {};
  interleave();
  benchmark::ClearRegisteredBenchmarks();
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    // A job is a fixed amount of work, timed once per repetition, so that counts and time belong together.
    benchmark::RegisterBenchmark(std::to_string(i).c_str(),
                                 [&, i](benchmark::State& state) { run_job(state, jobs[i], done); })
        ->Iterations(1)
        ->Repetitions(repetitions);
  }
  Collector collector(jobs.size());
  benchmark::RunSpecifiedBenchmarks(&collector, "all");
  end_if_stopped();
  return collector.timings;
}

double spread(std::vector<double> values) {
  if (values.size() < 2) return 0;
  std::sort(values.begin(), values.end());
  return (quantile(values, 0.75) - quantile(values, 0.25)) / quantile(values, 0.5);
}

}  // namespace speclab

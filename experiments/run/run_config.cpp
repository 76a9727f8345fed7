#include "experiments/run/run_config.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "analysis/statistics/intervals.hpp"
#include "experiments/config/config_error.hpp"
#include "experiments/run/cells.hpp"
#include "experiments/run/jobs.hpp"
#include "experiments/support/version.hpp"

namespace speclab {

namespace {

/// A cell of the grid, ready to run or taken from an earlier result.
struct RunCell {
  const CellSpec* spec;
  std::unique_ptr<PreparedCell> work;  ///< null for a cell that an interrupted run finished
  CellResult result;
};

struct Grid {
  Config config;
  std::vector<CellSpec> specs;
  JobList jobs;
  std::vector<RunCell> cells;

  std::uint64_t steps() const {
    std::uint64_t total = jobs.total();
    for (const RunCell& cell : cells) total += cell.work ? cell.work->workload() : 0;
    return total;
  }

  /// Intervals that hold together when they are to be simultaneous.
  int intervals() const {
    int total = 0;
    for (const CellSpec& spec : specs) total += config.experiment->intervals(spec.config);
    return total;
  }
};

bool resumes(const std::optional<Result>& earlier, const Grid& grid) {
  return earlier && earlier->partial && grid.config.experiment->resumable() &&
         earlier->version == version_string() && earlier->cells.size() == grid.specs.size() &&
         config_json(earlier->config) == config_json(grid.config);
}

/// Fills `grid`, which stays where it is: cells refer to its specs and jobs.
void prepare(Grid& grid, const Config& config, const std::optional<Result>& earlier) {
  grid.config = with_sections(config);
  const Experiment& experiment = *grid.config.experiment;
  grid.specs = experiment.cells(expand(grid.config));
  const bool resuming = resumes(earlier, grid);
  for (std::size_t i = 0; i < grid.specs.size(); ++i) {
    RunCell& cell = grid.cells.emplace_back(RunCell{&grid.specs[i], nullptr, {}});
    if (resuming && !earlier->cells[i].partial) {
      cell.result = earlier->cells[i];
    } else {
      static_cast<CaseConfig&>(cell.result) = grid.specs[i];
      cell.work = experiment.prepare(grid.specs[i], grid.jobs);
    }
  }
}

/// Throws ConfigError for a cell whose work is not all in jobs that the GPU can run.
void require_gpu_form(const Grid& grid) {
  if (!grid.config.experiment->runs_on_gpu()) {
    throw ConfigError("/experiment",
                      fmt::format("\"{}\" does not run on the GPU; --backend cuda runs iid, decode and "
                                  "optimal_gamma, --backend cpu everything",
                                  grid.config.experiment->name()));
  }
  for (const RunCell& cell : grid.cells) {
    if (!cell.work) continue;
    for (const Job* job : cell.work->jobs) require_gpu_form(*job);
  }
}

bool interrupted(const PreparedCell& work) {
  return std::any_of(work.jobs.begin(), work.jobs.end(),
                     [](const Job* job) { return !job->done || job->outcome.partial; });
}

/// No job ran long enough to say anything.
bool empty(const PreparedCell& work) {
  return std::any_of(work.jobs.begin(), work.jobs.end(), [](const Job* job) {
    const auto& batches = job->outcome.batches;
    return batches.empty() || std::any_of(batches.begin(), batches.end(), [](const Tally& tally) {
             return tally.rounds == 0 && tally.overlap_contexts == 0;
           });
  });
}

void run_cell(RunCell& cell, const RunContext& context) {
  if (!cell.work) return;
  // Experiments that work by themselves, not in jobs, end before the next cell.
  const bool stopped = cell.work->works() && context.control.stop();
  cell.result.partial = interrupted(*cell.work) || stopped;
  if (!stopped && !empty(*cell.work)) cell.work->run(cell.result, context);
}

}  // namespace

Config with_sections(Config config) {
  for (const std::string& key : config.experiment->sections()) config.add_section(key);
  return config;
}

Workload measure_workload(const Config& config) {
  Grid grid;
  prepare(grid, config, std::nullopt);
  return {grid.cells.size(), grid.steps()};
}

RunResult run_config(const Config& config, const std::function<Control(std::uint64_t total)>& control_for,
                     const std::optional<Result>& earlier, Backend backend) {
  Grid grid;
  prepare(grid, config, earlier);
  if (backend != Backend::cpu) require_gpu_form(grid);
  const Control control = control_for(grid.steps());
  grid.jobs.run(control, backend);

  RunResult run;
  Result& result = run.result;
  result.version = version_string();
  result.title = grid.config.title;
  result.config = grid.config;
  result.interval_confidence = grid.config.simultaneous
                                   ? family_confidence(grid.config.confidence, grid.intervals())
                                   : grid.config.confidence;
  run.timings.device = device_timings(backend);
  for (RunCell& cell : grid.cells) {
    run_cell(cell, {result.interval_confidence, control, run.timings});
    result.partial = result.partial || cell.result.partial;
    result.cells.push_back(std::move(cell.result));
  }
  return run;
}

}  // namespace speclab

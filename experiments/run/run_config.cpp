#include "experiments/run/run_config.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <mutex>
#include <set>
#include <utility>

#include "analysis/statistics/intervals.hpp"
#include "experiments/config/config_error.hpp"
#include "experiments/run/cells.hpp"
#include "experiments/run/jobs.hpp"
#include "experiments/support/version.hpp"
#include "sim/parallel.hpp"

namespace speclab {

namespace {

/// A cell of the grid, ready to run or taken from an earlier run.
struct RunCell {
  const CellSpec* spec;
  std::unique_ptr<PreparedCell> work;  ///< null for a cell that is finished
  CellResult result;
  std::size_t waiting = 0;  ///< jobs that have not run
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

void expand(Grid& grid, const Config& config) {
  grid.config = with_sections(config);
  grid.specs = grid.config.experiment->cells(expand(grid.config));
}

/// The content of every file that the cells name. Those that do not exist are left to the models, which say
/// what is missing.
std::vector<InputFile> inputs_of(const std::vector<CellSpec>& specs) {
  std::vector<std::string> named;
  std::set<std::string> seen;
  std::vector<InputFile> inputs;
  for (const CellSpec& spec : specs) {
    named.clear();
    config_type().type->add_input_files(&spec.config, named);
    for (const std::string& file : named) {
      if (seen.insert(file).second && std::filesystem::exists(file)) inputs.push_back(input_file_of(file));
    }
  }
  return inputs;
}

/// `grid` stays where it is: cells refer to its specs and jobs.
void prepare(Grid& grid, FinishedCells finished) {
  for (std::size_t i = 0; i < grid.specs.size(); ++i) {
    RunCell& cell = grid.cells.emplace_back(RunCell{&grid.specs[i], nullptr, {}, 0});
    if (const auto found = finished.find(i); found != finished.end()) {
      cell.result = std::move(found->second);
    } else {
      static_cast<CaseConfig&>(cell.result) = grid.specs[i];
      cell.work = grid.config.experiment->prepare(grid.specs[i], grid.jobs);
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

/// Runs cells, some as soon as their jobs have run, and lets go of what no further cell needs.
class CellRunner {
 public:
  CellRunner(Grid& grid, const Resumption& resumption, const RunContext& context)
      : grid_(grid), resumption_(resumption), context_(context) {
    for (RunCell& cell : grid.cells) {
      if (!cell.work) continue;
      cell.waiting = cell.work->jobs.size();
      for (Job* job : cell.work->jobs) users_[job].push_back(&cell);
    }
  }

  /// After a job: the cells that wait for nothing else, except those that work for a noticeable time.
  void after(const Job& job) {
    // A cell's own loops run no other jobs here, whose ends would wait for this lock.
    isolated([&] {
      const std::scoped_lock lock(mutex_);
      const auto users = users_.find(&job);
      if (users == users_.end()) return;
      for (RunCell* cell : std::vector<RunCell*>(users->second)) {
        if (--cell->waiting == 0 && !cell->work->works() && !interrupted(*cell->work)) run(*cell);
      }
    });
  }

  /// Every cell that is left, in order.
  void rest() {
    for (RunCell& cell : grid_.cells) {
      if (cell.work) run(cell);
    }
  }

 private:
  void run(RunCell& cell) {
    // Experiments that work by themselves, not in jobs, end before the next cell.
    const bool stopped = cell.work->works() && context_.control.stop();
    cell.result.partial = interrupted(*cell.work) || stopped;
    if (!stopped && !empty(*cell.work)) cell.work->run(cell.result, context_);
    if (cell.result.partial) return;
    const bool costs = !cell.work->jobs.empty() || cell.work->works();
    if (costs) resumption_.keep(static_cast<std::size_t>(&cell - grid_.cells.data()), cell.result);
    for (Job* job : cell.work->jobs) {
      std::vector<RunCell*>& users = users_.at(job);
      users.erase(std::find(users.begin(), users.end(), &cell));
      if (users.empty()) job->outcome = {};
    }
    cell.work.reset();
  }

  Grid& grid_;
  const Resumption& resumption_;
  const RunContext& context_;
  std::map<const Job*, std::vector<RunCell*>> users_;  ///< cells that have not run, by what they wait for
  std::mutex mutex_;
};

}  // namespace

Config with_sections(Config config) {
  for (const std::string& key : config.experiment->sections()) config.add_section(key);
  return config;
}

Workload measure_workload(const Config& config) {
  Grid grid;
  expand(grid, config);
  prepare(grid, {});
  return {grid.cells.size(), grid.steps()};
}

RunResult run_config(const Config& config, const std::function<Control(std::uint64_t total)>& control_for,
                     const std::function<Resumption(const RunIdentity& identity)>& resume, Backend backend) {
  Grid grid;
  expand(grid, config);
  const RunIdentity identity{grid.config, grid.specs.size(), inputs_of(grid.specs), backend};
  Resumption resumption = resume(identity);
  prepare(grid, std::move(resumption.finished));
  if (backend != Backend::cpu) require_gpu_form(grid);

  RunResult run;
  Result& result = run.result;
  result.version = version_string();
  result.title = grid.config.title;
  result.config = grid.config;
  result.inputs = identity.inputs;
  result.interval_confidence = grid.config.simultaneous
                                   ? family_confidence(grid.config.confidence, grid.intervals())
                                   : grid.config.confidence;
  run.timings.device = device_timings(backend);
  const Control control = control_for(grid.steps());
  const RunContext context{result.interval_confidence, control, run.timings};
  CellRunner runner(grid, resumption, context);
  grid.jobs.run(control, backend, [&](const Job& job) { runner.after(job); });
  runner.rest();
  for (RunCell& cell : grid.cells) {
    result.partial = result.partial || cell.result.partial;
    result.cells.push_back(std::move(cell.result));
  }
  return run;
}

}  // namespace speclab

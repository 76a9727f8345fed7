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
  std::unique_ptr<PreparedCell> work;  ///< null for a cell that is finished, or of another share
  CellResult result;
  std::size_t waiting = 0;  ///< jobs that have not run
  bool divided = false;     ///< its jobs run in part, itself not at all
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
  grid.specs = cells_of(grid.config);
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
void prepare(Grid& grid, Resumption& resumption) {
  const std::optional<Share>& share = resumption.share;
  for (std::size_t i = 0; i < grid.specs.size(); ++i) {
    RunCell& cell = grid.cells.emplace_back(RunCell{&grid.specs[i], nullptr, {}});
    if (const auto found = resumption.finished.find(i); found != resumption.finished.end()) {
      cell.result = std::move(found->second);
      continue;
    }
    static_cast<CaseConfig&>(cell.result) = grid.specs[i];
    if (share && !share->cells[i]) continue;
    cell.work = grid.config.experiment->prepare(grid.specs[i], grid.jobs);
    if (!share || !share->divided.contains(i)) continue;
    cell.divided = true;
    for (Job* job : cell.work->jobs) job->simulation.only = share->divided.at(i);
  }
}

/// A job by the first cell that uses it, and its place there.
using JobName = std::pair<std::size_t, std::size_t>;

std::map<const Job*, JobName> job_names(const std::vector<RunCell>& cells) {
  std::map<const Job*, JobName> names;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (!cells[i].work) continue;
    const std::vector<Job*>& jobs = cells[i].work->jobs;
    for (std::size_t k = 0; k < jobs.size(); ++k) names.try_emplace(jobs[k], i, k);
  }
  return names;
}

/// Gives jobs their parts; those that have all of their batches then are done.
void add_parts(const std::vector<RunCell>& cells, const std::map<const Job*, JobName>& names,
               const std::vector<JobPart>& parts) {
  std::map<JobName, std::vector<const JobPart*>> by_name;
  for (const JobPart& part : parts) by_name[{part.cell, part.job}].push_back(&part);
  for (const RunCell& cell : cells) {
    if (!cell.work) continue;
    for (Job* job : cell.work->jobs) {
      const auto found = by_name.find(names.at(job));
      if (job->done || found == by_name.end()) continue;
      Outcome outcome;
      std::uint32_t covered = 0;
      for (const JobPart* part : found->second) {
        outcome.batches.resize(part->batches);
        std::copy(part->tallies.begin(), part->tallies.end(), outcome.batches.begin() + part->first);
        outcome.work += part->work;
        covered += static_cast<std::uint32_t>(part->tallies.size());
      }
      const BatchSpan& only = job->simulation.only;
      const std::uint32_t last = std::min(only.last, static_cast<std::uint32_t>(outcome.batches.size()));
      if (covered < last - only.first) continue;
      job->outcome = std::move(outcome);
      job->engine = found->second.front()->engine;
      job->why_plain = found->second.front()->why_plain;
      job->done = true;
    }
  }
}

JobPart part_of(const Job& job, const JobName& name) {
  const std::vector<Tally>& batches = job.outcome.batches;
  const auto count = static_cast<std::uint32_t>(batches.size());
  const std::uint32_t first = std::min(job.simulation.only.first, count);
  const std::uint32_t last = std::min(job.simulation.only.last, count);
  return {.cell = name.first,
          .job = name.second,
          .first = first,
          .batches = count,
          .engine = job.engine,
          .why_plain = job.why_plain,
          .work = job.outcome.work,
          .tallies = {batches.begin() + first, batches.begin() + last}};
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
    if (resumption.share) names_ = job_names(grid.cells);
    for (RunCell& cell : grid.cells) {
      if (!cell.work) continue;
      for (Job* job : cell.work->jobs) {
        cell.waiting += job->done ? 0 : 1;
        users_[job].push_back(&cell);
      }
    }
  }

  /// After a job: the cells that wait for nothing else, except those that work for a noticeable time.
  void after(const Job& job) {
    // A cell's own loops run no other jobs here, whose ends would wait for this lock.
    isolated([&] {
      const std::scoped_lock lock(mutex_);
      const auto users = users_.find(&job);
      if (users == users_.end()) return;
      if (users->second.front()->divided) {
        if (!job.outcome.partial) resumption_.keep_part(part_of(job, names_.at(&job)));
        return;
      }
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
    if (cell.divided) {
      cell.result.partial = interrupted(*cell.work);
      return;
    }
    // Experiments that work by themselves, not in jobs, end before the next cell.
    const bool stopped = cell.work->works() && context_.control.stop();
    cell.result.partial = interrupted(*cell.work) || stopped;
    if (!stopped && !empty(*cell.work)) cell.work->run(cell.result, context_);
    if (cell.result.partial) return;
    const bool costs = !cell.work->jobs.empty() || cell.work->works() || resumption_.share;
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
  std::map<const Job*, JobName> names_;                ///< of a run that is shared
  std::mutex mutex_;
};

}  // namespace

Config with_sections(Config config) {
  for (const std::string& key : config.experiment->sections()) config.add_section(key);
  return config;
}

std::vector<CellSpec> cells_of(const Config& config) { return config.experiment->cells(expand(config)); }

Workload measure_workload(const Config& config) {
  Grid grid;
  expand(grid, config);
  Resumption everything;
  prepare(grid, everything);
  return {grid.cells.size(), grid.steps()};
}

RunResult run_config(const Config& config, const std::function<Control(std::uint64_t total)>& control_for,
                     const std::function<Resumption(const RunIdentity& identity)>& resume, Backend backend) {
  Grid grid;
  expand(grid, config);
  const RunIdentity identity{grid.config, grid.specs.size(), inputs_of(grid.specs), backend, grid.specs};
  Resumption resumption = resume(identity);
  prepare(grid, resumption);
  if (!resumption.parts.empty()) add_parts(grid.cells, job_names(grid.cells), resumption.parts);
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

#include "experiments/run/prepared_cells.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "core/stop.hpp"
#include "experiments/base/format/config_error.hpp"
#include "experiments/config/config.hpp"
#include "experiments/run/jobs.hpp"
#include "sim/parallel.hpp"

namespace speclab {

namespace {

/// Throws std::logic_error if an experiment's work contradicts its declaration, a mistake in its code.
void require_as_said(const Experiment& experiment, bool holds, const char* what) {
  if (!holds) throw std::logic_error(fmt::format("the experiment {}: {}", experiment.name, what));
}

void prepare_until(PreparedCell& cell, const Experiment& experiment, double confidence) {
  const std::vector<Job*>& jobs = cell.work->jobs;
  require_as_said(experiment, jobs.size() <= 1, "until decides about one job");
  for (Job* job : jobs) run_until(*job, experiment.name, confidence);
}

bool interrupted(const Work& work) {
  return std::ranges::any_of(work.jobs, [](const Job* job) { return !job->done || job->outcome.partial; });
}

/// Returns true if some job ran too short for any result.
bool says_nothing(const Work& work) {
  return std::ranges::any_of(work.jobs, [](const Job* job) {
    const auto& batches = job->outcome.batches;
    return batches.empty() || std::ranges::any_of(batches, [](const Tally& tally) {
             return tally.rounds == 0 && tally.overlap_contexts == 0;
           });
  });
}

}  // namespace

PreparedCells prepare(const Turn& turn, const CellGrid& grid, double confidence, JobList& jobs,
                      FinishedCells& finished) {
  const Experiment& experiment = grid.experiment();
  PreparedCells cells;
  for (const std::size_t index : turn) {
    end_if_stopped();
    PreparedCell& cell = cells.emplace_back(PreparedCell{.index = index});
    if (const auto found = finished.find(index); found != finished.end()) {
      cell.result = std::move(found->second);
      continue;
    }
    cell.spec = std::make_shared<const CellSpec>(grid[index]);
    static_cast<CaseConfig&>(cell.result) = *cell.spec;
    cell.work = experiment.prepare(*cell.spec, jobs);
    require_as_said(experiment,
                    !experiment.closed_forms || (cell.work->jobs.empty() && !cell.work->own_steps),
                    "it is of closed forms alone, and has jobs or own steps");
    if (cell.spec->config.simulation.until) prepare_until(cell, experiment, confidence);
  }
  return cells;
}

std::uint64_t steps_of(const PreparedCells& cells, const JobList& jobs) {
  std::uint64_t total = jobs.total();
  for (const PreparedCell& cell : cells) total += cell.work ? cell.work->own_steps.value_or(0) : 0;
  return total;
}

void require_gpu_form(const PreparedCells& cells) {
  for (const PreparedCell& cell : cells) {
    if (!cell.work) continue;
    const std::vector<Job*>& jobs = cell.work->jobs;
    const bool all_in_jobs = !cell.work->own_steps && !jobs.empty();
    if (!all_in_jobs || !std::ranges::all_of(jobs, [](const Job* job) { return decodes(*job); })) {
      throw ConfigError("/experiment",
                        "\"{}\" does not run on the GPU, which only decodes; use --backend cpu",
                        cell.spec->config.experiment->name);
    }
    for (const Job* job : jobs) {
      if (job->precision)
        throw ConfigError("/simulation/until", "runs on the CPU alone; leave out --backend cuda");
      require_gpu_form(*job);
    }
  }
}

CellRunner::CellRunner(PreparedCells& cells, const ResultKeeper& keep, bool shared, const RunContext& context)
    : cells_(cells), keep_(keep), shared_(shared), context_(context) {
  for (PreparedCell& cell : cells) {
    if (!cell.work) continue;
    for (Job* job : cell.work->jobs) {
      cell.waiting += job->done ? 0 : 1;
      users_[job].push_back(&cell);
    }
  }
}

void CellRunner::after(const Job& job) {
  // isolated: loops of a cell must not run other jobs in this thread, whose ends would wait for this lock.
  isolated([&] {
    const std::scoped_lock lock(mutex_);
    const auto users = users_.find(&job);
    if (users == users_.end()) return;
    for (PreparedCell* cell : std::vector<PreparedCell*>(users->second)) {
      if (--cell->waiting == 0 && !cell->work->own_steps && !interrupted(*cell->work)) run(*cell);
    }
  });
}

void CellRunner::rest() {
  for (PreparedCell& cell : cells_) {
    if (cell.work) run(cell);
  }
}

void CellRunner::run(PreparedCell& cell) {
  // Work outside of jobs checks for a stop before each cell.
  const bool alone = cell.work->own_steps || cell.work->jobs.empty();
  const bool stopped = alone && context_.control.stop();
  cell.result.partial = interrupted(*cell.work) || stopped;
  if (!stopped && !says_nothing(*cell.work)) finish(cell);
  if (cell.result.partial) return;
  if (!cell.work->jobs.empty() || cell.work->own_steps || shared_) keep_(cell.index, cell.result);
  for (Job* job : cell.work->jobs) {
    std::vector<PreparedCell*>& users = users_.at(job);
    users.erase(std::ranges::find(users, &cell));
    if (users.empty()) job->outcome = {};
  }
  cell.work.reset();
  cell.spec.reset();
  if (shared_) cell.result = {};
}

/// Makes the cell's result; if stopped on the way, only with what the cell sets.
void CellRunner::finish(PreparedCell& cell) {
  const Job* const job = cell.work->jobs.empty() ? nullptr : cell.work->jobs.front();
  const WantedPrecision* const precision = job != nullptr && job->precision ? &*job->precision : nullptr;
  RunContext context = context_;
  if (precision != nullptr) context.confidence = precision->confidence;
  try {
    cell.work->finish(cell.result, context);
  } catch (const Stopped&) {
    cell.result = {};
    static_cast<CaseConfig&>(cell.result) = *cell.spec;
    cell.result.partial = true;
    return;
  }
  if (precision != nullptr) {
    cell.result.until = UntilResult{job->precise, job->looks, precision->max_looks, job->simulation.trials,
                                    job->simulation.batches};
  }
}

}  // namespace speclab

#include "experiments/run/cell_runner.hpp"

#include <algorithm>

#include "core/stop.hpp"
#include "experiments/run/cell_spec.hpp"
#include "experiments/run/jobs.hpp"
#include "sim/parallel.hpp"

namespace speclab {

namespace {

bool interrupted(const Work& work) {
  return std::any_of(work.jobs.begin(), work.jobs.end(),
                     [](const Job* job) { return !job->done || job->outcome.partial; });
}

/// Some job did not run long enough to say anything.
bool says_nothing(const Work& work) {
  return std::any_of(work.jobs.begin(), work.jobs.end(), [](const Job* job) {
    const auto& batches = job->outcome.batches;
    return batches.empty() || std::any_of(batches.begin(), batches.end(), [](const Tally& tally) {
             return tally.rounds == 0 && tally.overlap_contexts == 0;
           });
  });
}

}  // namespace

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
  // A cell's own loops run no other jobs here, whose ends would wait for this lock.
  isolated([&] {
    const std::scoped_lock lock(mutex_);
    const auto users = users_.find(&job);
    if (users == users_.end()) return;
    if (users->second.front()->in_part()) {
      if (!job.outcome.partial) keep_.tallies(tallies_of(job));
      return;
    }
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
  if (cell.in_part()) {
    cell.result.partial = interrupted(*cell.work);
    return;
  }
  // Work outside of jobs ends before the next cell.
  const bool alone = cell.work->own_steps || cell.work->jobs.empty();
  const bool stopped = alone && context_.control.stop();
  cell.result.partial = interrupted(*cell.work) || stopped;
  if (!stopped && !says_nothing(*cell.work)) finish(cell);
  if (cell.result.partial) return;
  if (!cell.work->jobs.empty() || cell.work->own_steps || shared_) keep_.cell(cell.task.cell, cell.result);
  for (Job* job : cell.work->jobs) {
    std::vector<PreparedCell*>& users = users_.at(job);
    users.erase(std::find(users.begin(), users.end(), &cell));
    if (users.empty()) job->outcome = {};
  }
  cell.work.reset();
  cell.spec.reset();
  if (shared_) cell.result = {};
}

/// A cell that is stopped on the way has nothing of its own.
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
    cell.result.until = UntilResult{job->precise, job->looks, precision->most_looks, job->simulation.trials,
                                    job->simulation.batches};
  }
}

}  // namespace speclab

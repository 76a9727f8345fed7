#include "experiments/run/run_config.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <filesystem>
#include <mutex>
#include <numeric>
#include <set>
#include <utility>

#include "analysis/statistics/intervals.hpp"
#include "core/stop.hpp"
#include "experiments/format/config_error.hpp"
#include "experiments/run/cells.hpp"
#include "experiments/run/jobs.hpp"
#include "experiments/support/version.hpp"
#include "sim/parallel.hpp"

namespace speclab {

namespace {

/// A cell of the grid, ready to run or taken from an earlier run.
struct RunCell {
  std::size_t place = 0;  ///< in the grid
  CellResult result = {};
  std::unique_ptr<const CellSpec> spec = {};  ///< as long as there is work
  std::unique_ptr<PreparedCell> work = {};    ///< null for a cell that is finished
  std::size_t waiting = 0;                    ///< jobs that have not run
  bool divided = false;                       ///< its jobs run in part, itself not at all
};

/// Cells that are run together.
using Block = std::deque<RunCell>;

std::uint64_t steps_of(const Block& block, const JobList& jobs) {
  std::uint64_t total = jobs.total();
  for (const RunCell& cell : block) total += cell.work ? cell.work->workload() : 0;
  return total;
}

/// What all cells say together.
struct Survey {
  std::vector<InputFile>
      inputs;         ///< files that do not exist are left to the models, which say what is missing
  int intervals = 0;  ///< that hold together when they are to be simultaneous
  CorpusSurvey corpora;
};

Survey survey_of(const CellGrid& grid, const Experiment& experiment) {
  Survey survey;
  std::set<std::string> seen;
  std::vector<std::string> named;
  for (std::size_t i = 0; i < grid.size(); ++i) {
    end_if_stopped();
    const Config config = grid[i].config;
    survey.corpora.add(config);
    survey.intervals += experiment.intervals(config);
    named.clear();
    config_type().type->add_input_files(&config, named);
    for (const std::string& file : named) {
      if (seen.insert(file).second && std::filesystem::exists(file))
        survey.inputs.push_back(input_file_of(file));
    }
  }
  return survey;
}

std::vector<std::size_t> all_places(const CellGrid& grid) {
  std::vector<std::size_t> places(grid.size());
  std::iota(places.begin(), places.end(), std::size_t{0});
  return places;
}

/// Cells that share jobs are prepared together: all of them. Closed forms alone share nothing, and a config
/// and what was prepared for each need several times the memory of its result: they take turns.
std::vector<std::vector<std::size_t>> blocks_of_run(const CellGrid& grid, const Experiment& experiment) {
  constexpr std::size_t cells_in_turn = 4096;
  const std::vector<std::size_t> all = all_places(grid);
  if (all.size() <= cells_in_turn) return {all};
  JobList jobs;
  const CellSpec first = grid[0];
  const std::unique_ptr<PreparedCell> work = experiment.prepare(first, jobs);
  if (!work->jobs.empty() || work->works()) return {all};
  std::vector<std::vector<std::size_t>> blocks;
  for (std::size_t begin = 0; begin < all.size(); begin += cells_in_turn) {
    const std::size_t end = std::min(begin + cells_in_turn, all.size());
    blocks.emplace_back(all.begin() + static_cast<std::ptrdiff_t>(begin),
                        all.begin() + static_cast<std::ptrdiff_t>(end));
  }
  return blocks;
}

/// Unless the cell looks itself, one job decides about the end of the simulation, and all work is in it.
void prepare_until(RunCell& cell, double confidence) {
  const std::string& experiment = cell.spec->config.experiment->name;
  if (cell.work->looks()) return;
  const std::vector<Job*>& jobs = cell.work->jobs;
  if (jobs.size() != 1 || cell.work->works()) refuse_until_of(experiment);
  run_until(*jobs.front(), experiment, confidence);
}

/// `block` stays where it is: cells refer to their specs and to the jobs.
void prepare(Block& block, const CellGrid& grid, const std::vector<std::size_t>& places,
             const Experiment& experiment, double confidence, JobList& jobs, Resumption& resumption,
             const Share& share) {
  for (const std::size_t place : places) {
    end_if_stopped();
    RunCell& cell = block.emplace_back(RunCell{.place = place});
    if (const auto found = resumption.finished.find(place); found != resumption.finished.end()) {
      cell.result = std::move(found->second);
      continue;
    }
    cell.spec = std::make_unique<const CellSpec>(grid[place]);
    static_cast<CaseConfig&>(cell.result) = *cell.spec;
    const auto divided = share.divided.find(place);
    cell.divided = divided != share.divided.end();
    jobs.set_span(cell.divided ? divided->second : BatchSpan{});
    cell.work = experiment.prepare(*cell.spec, jobs);
    if (cell.spec->config.simulation.until) prepare_until(cell, confidence);
  }
  for (const RunCell& cell : block) {
    if (!cell.divided) continue;
    const BatchSpan& span = share.divided.at(cell.place);
    for (Job* job : cell.work->jobs) {
      if (cell.spec->config.simulation.until) {
        keep_one_look(*job, share.look, span);
      } else {
        job->simulation.only = span;
      }
    }
  }
}

/// A job by the first cell that uses it, and its place there.
using JobName = std::pair<std::size_t, std::size_t>;

std::map<const Job*, JobName> job_names(const Block& block) {
  std::map<const Job*, JobName> names;
  for (const RunCell& cell : block) {
    if (!cell.work) continue;
    const std::vector<Job*>& jobs = cell.work->jobs;
    for (std::size_t k = 0; k < jobs.size(); ++k) names.try_emplace(jobs[k], cell.place, k);
  }
  return names;
}

/// What the parts say together of the batches that the job runs next; partial when some are missing.
Outcome outcome_of(Job& job, const std::vector<const JobPart*>& parts) {
  const bool doubles = job.precision.has_value();
  const int look = doubles ? job.looks + 1 : std::max(job.looks, 1);
  Outcome outcome;
  std::uint32_t covered = 0;
  for (const JobPart* part : parts) {
    outcome.batches.resize(part->batches);
    if (part->look != look) continue;
    std::copy(part->tallies.begin(), part->tallies.end(), outcome.batches.begin() + part->first);
    outcome.work += part->work;
    covered += static_cast<std::uint32_t>(part->tallies.size());
  }
  const BatchSpan& only = job.simulation.only;
  const std::uint32_t last = std::min(only.last, static_cast<std::uint32_t>(outcome.batches.size()));
  outcome.partial = covered < last - only.first;
  if (!outcome.partial) {
    job.engine = parts.front()->engine;
    job.why_plain = parts.front()->why_plain;
  }
  return outcome;
}

/// Gives jobs their parts; those that have all of their batches then are done, and those that double as far
/// as there are any.
void add_parts(const Block& block, const Resumption& resumption) {
  const std::map<const Job*, JobName> names = job_names(block);
  std::map<JobName, std::vector<const JobPart*>> by_name;
  for (const JobPart& part : resumption.parts) by_name[{part.cell, part.job}].push_back(&part);
  for (const RunCell& cell : block) {
    if (!cell.work) continue;
    for (Job* job : cell.work->jobs) {
      const auto found = by_name.find(names.at(job));
      if (found == by_name.end()) continue;
      if (!job->done && job->precision) {
        look_until_precise(*job, [&] { return outcome_of(*job, found->second); });
        job->done = true;
      } else if (!job->done) {
        Outcome outcome = outcome_of(*job, found->second);
        if (outcome.partial) continue;
        job->outcome = std::move(outcome);
        job->done = true;
      }
      if (!job->precision) continue;
      for (int look = 2; look <= job->looks; ++look) resumption.needs_look(cell.place, look);
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
          .look = std::max(job.looks, 1),
          .first = first,
          .batches = count,
          .engine = job.engine,
          .why_plain = job.why_plain,
          .work = job.outcome.work,
          .tallies = {batches.begin() + first, batches.begin() + last}};
}

/// Throws ConfigError for a cell whose work is not all in jobs that the GPU can run.
void require_gpu_form(const Block& block, const Experiment& experiment) {
  if (!experiment.runs_on_gpu) {
    throw ConfigError("/experiment",
                      fmt::format("\"{}\" does not run on the GPU; --backend cuda runs iid, decode and "
                                  "optimal_gamma, --backend cpu everything",
                                  experiment.name));
  }
  for (const RunCell& cell : block) {
    if (!cell.work) continue;
    for (const Job* job : cell.work->jobs) {
      if (job->precision)
        throw ConfigError("/simulation/until", "is looked at by the CPU alone; leave out --backend cuda");
      require_gpu_form(*job);
    }
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
  CellRunner(Block& block, const Resumption& resumption, const RunContext& context)
      : block_(block), resumption_(resumption), context_(context) {
    if (resumption.shares) names_ = job_names(block);
    for (RunCell& cell : block) {
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
    for (RunCell& cell : block_) {
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
    const bool alone = cell.work->works() || cell.work->jobs.empty();
    const bool stopped = alone && context_.control.stop();
    cell.result.partial = interrupted(*cell.work) || stopped;
    if (!stopped && !empty(*cell.work)) fill_in(cell);
    if (cell.result.partial) return;
    const bool costs = !cell.work->jobs.empty() || cell.work->works() || resumption_.shares;
    if (costs) resumption_.keep(cell.place, cell.result);
    for (Job* job : cell.work->jobs) {
      std::vector<RunCell*>& users = users_.at(job);
      users.erase(std::find(users.begin(), users.end(), &cell));
      if (users.empty()) job->outcome = {};
    }
    cell.work.reset();
    cell.spec.reset();
    if (resumption_.shares) cell.result = {};
  }

  /// A cell that is stopped on the way has nothing of its own.
  void fill_in(RunCell& cell) {
    const CaseConfig before = cell.result;
    try {
      fill_in_whole(cell);
    } catch (const Stopped&) {
      cell.result = {};
      static_cast<CaseConfig&>(cell.result) = before;
      cell.result.partial = true;
    }
  }

  void fill_in_whole(RunCell& cell) {
    const Job* const job = cell.work->jobs.empty() ? nullptr : cell.work->jobs.front();
    if (job == nullptr || !job->precision) {
      cell.work->run(cell.result, context_);
      return;
    }
    const WantedPrecision& precision = *job->precision;
    cell.work->run(cell.result, {precision.confidence, context_.control, context_.timings});
    cell.result.until = UntilResult{job->precise, job->looks, precision.most_looks, job->simulation.trials,
                                    job->simulation.batches};
  }

  Block& block_;
  const Resumption& resumption_;
  const RunContext& context_;
  std::map<const Job*, std::vector<RunCell*>> users_;  ///< cells that have not run, by what they wait for
  std::map<const Job*, JobName> names_;                ///< of a run that is shared
  std::mutex mutex_;
};

}  // namespace

Config with_sections(Config config) {
  for (const std::string& key : config.experiment->sections) config.add_section(key);
  return config;
}

Workload measure_workload(const Config& config) {
  const CellGrid grid(with_sections(config));
  require_memory_of_cells(grid.size());
  JobList jobs;
  Block block;
  Resumption everything;
  prepare(block, grid, all_places(grid), *config.experiment, config.confidence, jobs, everything, Share{});
  return {grid.size(), steps_of(block, jobs)};
}

RunResult run_config(const Config& given, const std::function<Control(std::uint64_t total)>& control_for,
                     const std::function<Resumption(const RunIdentity& identity)>& resume, Backend backend) {
  const Config config = with_sections(given);
  const Experiment& experiment = *config.experiment;
  const CellGrid grid(config);
  const Survey survey = survey_of(grid, experiment);
  Resumption resumption = resume({config, grid.size(), survey.inputs, backend, &grid});
  std::vector<Share> whole(1);
  if (!resumption.shares) {
    require_memory_of_cells(grid.size());
    whole.front().blocks = blocks_of_run(grid, experiment);
  }
  std::size_t cells = 0;
  std::vector<std::pair<const Share*, const std::vector<std::size_t>*>> blocks;
  for (const Share& share : resumption.shares ? *resumption.shares : whole) {
    cells += share.cells();
    for (const auto& places : share.blocks) blocks.emplace_back(&share, &places);
  }

  RunResult run;
  Result& result = run.result;
  result.version = version_string();
  result.title = config.title;
  result.config = config;
  result.inputs = survey.inputs;
  result.interval_confidence =
      config.simultaneous ? family_confidence(config.confidence, survey.intervals) : config.confidence;
  run.timings.device = device_timings(backend);
  std::optional<Control> control;
  JobList jobs;
  for (const auto& [share, places] : blocks) {
    // A run that is not shared out has all of its cells.
    if (resumption.shares && control && control->stop()) {
      result.partial = true;
      break;
    }
    jobs.clear();
    Block block;
    prepare(block, grid, *places, experiment, result.interval_confidence, jobs, resumption, *share);
    if (!resumption.parts.empty()) add_parts(block, resumption);
    if (backend != Backend::cpu) require_gpu_form(block, experiment);
    if (!control) {
      const std::uint64_t steps = steps_of(block, jobs);
      control = control_for(blocks.size() == 1 ? steps
                                               : static_cast<std::uint64_t>(
                                                     static_cast<double>(steps) * static_cast<double>(cells) /
                                                     static_cast<double>(places->size())));
    }
    const RunContext context{result.interval_confidence, *control, run.timings};
    CellRunner runner(block, resumption, context);
    jobs.run(*control, backend, [&](const Job& job) { runner.after(job); });
    runner.rest();
    for (RunCell& cell : block) {
      result.partial = result.partial || cell.result.partial;
      if (!resumption.shares) result.cells.push_back(std::move(cell.result));
    }
  }
  // Also where every cell was finished before: a result does not depend on how it came about.
  if (!survey.corpora.corpora().empty() && resumption.describes) {
    try {
      std::vector<CorpusFacts> facts;
      for (const CorpusCells& corpus : survey.corpora.corpora())
        facts.push_back(corpus_facts(corpus, jobs.factory()));
      result.corpora = std::move(facts);
    } catch (const Stopped&) {
      result.partial = true;
    }
  }
  return run;
}

}  // namespace speclab

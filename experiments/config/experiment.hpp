// An experiment: what a config can ask for. One file or folder of experiments/studies each, with its code and
// its presentation; one line in all_experiments.cpp.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "experiments/base/format/type.hpp"
#include "sim/control.hpp"

namespace speclab {

class JobList;
struct CellResult;
struct CellSpec;
struct Config;
struct Job;
struct Presentation;
struct Timings;

/// What a cell's part of the result is made with.
struct RunContext {
  double confidence;  ///< of every interval
  const Control& control;
  Timings& timings;
};

/// The work of one cell. Its cell and its jobs outlive it.
struct Work {
  /// Simulations (JobList), which run in parallel with those of other cells; several cells may share one.
  std::vector<Job*> jobs = {};
  /// Fills in the result, which has what the cell sets already, from what the jobs gave. Throws Stopped
  /// (core/stop.hpp) when it is ended before it has anything to show.
  std::function<void(CellResult& result, const RunContext& context)> finish;
  /// Of a `finish` that works for a noticeable time, and so is left out after an interrupt: its steps, in the
  /// unit of Control::progress, or 0 for steps that nobody counts. None: it only describes the jobs.
  std::optional<std::uint64_t> own_steps = {};
};

/// Where the simulation of a cell can be cut, so that several processes run batches of it.
enum class CutBetween { nothing, trials, rounds };

/// How much an experiment can do with recorded models, which have acceptance rates and neither rows nor
/// tokens.
enum class Recordings {
  none,        ///< it looks at rows or tokens
  decoding,    ///< it looks at what is accepted
  rates_alone  ///< it looks at acceptance rates and decodes nothing
};

/// What is left out is as most experiments have it.
struct Experiment {
  std::string name;
  std::string sentence;
  /// Keys of the sections that it reads; results carry them with their defaults.
  std::vector<std::string> sections = {};
  /// Throws ConfigError for a cell of which the config alone says that it cannot be run. Every cell passes it
  /// before any is prepared, so that nothing is built in vain. Null: `prepare` says all, and takes no time.
  std::function<void(const Config& cell)> check = nullptr;
  /// Builds what the cell runs. Throws ConfigError for a config that cannot be run.
  std::function<Work(const CellSpec& cell, JobList& jobs)> prepare;
  /// Makes several cells of one; null where it stays one.
  std::function<std::vector<CellSpec>(CellSpec cell)> split = nullptr;
  /// Intervals of one cell that hold together when "simultaneous" is set. Of the metrics that are compared
  /// with formulas three are not functions of one another.
  std::function<int(const Config& cell)> intervals = [](const Config&) { return 3; };
  /// Cells have neither jobs nor own steps, and the same result each time that they are computed: those of a
  /// large grid are not held (RunResult::all).
  bool closed_forms = false;
  Recordings recordings = Recordings::none;
  /// Judges printed values by a formula.
  bool judges_printed = false;
  /// Can go on until an interval is narrow: its one job, or `finish` where it has own steps.
  bool until = false;
  /// False for results that must be measured again after an interrupt.
  bool resumable = true;
  /// Above `nothing` all work of a cell is in jobs.
  CutBetween cut = CutBetween::nothing;
  /// Keys of a config that jobs seldom depend on: cells that differ in these alone are run by one process, as
  /// they are likely to share their jobs. Results do not depend on it.
  std::vector<std::string> not_of_jobs = {"cost", "input_rounding"};
  /// The key and the description of CellResult::own; null when there is nothing.
  std::string own_key = {};
  TypePtr own_result = nullptr;
  /// The description of Timings::own; null when there is nothing.
  TypePtr own_timings = nullptr;
  /// How its results are shown (experiments/results/presentation.hpp), which running them never looks at.
  std::shared_ptr<const Presentation> presentation;
};

/// Every experiment; tests and other programs may add some.
std::vector<const Experiment*>& experiments();
/// The experiment of a present or former name, null when there is none.
const Experiment* find_experiment(const std::string& name);

}  // namespace speclab

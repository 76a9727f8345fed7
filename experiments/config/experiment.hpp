// Declares what an experiment is: a kind of run that a config can ask for. Each experiment has its own file
// or folder of experiments/studies, with its code and its presentation, and a line in all_experiments.cpp.
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

/// The data with which `finish` makes a cell's part of the result.
struct RunContext {
  double confidence;  ///< confidence of every interval
  const Control& control;
  Timings& timings;
};

/// The work of one cell. The cell and its jobs outlive it.
struct Work {
  /// Simulations (JobList), which run in parallel with those of other cells. Several cells may share one.
  std::vector<Job*> jobs = {};
  /// Fills in the result from the outcomes of the jobs; the result already has what the cell sets. Throws
  /// Stopped (core/stop.hpp) if it is ended before it has anything to show.
  std::function<void(CellResult& result, const RunContext& context)> finish;
  /// Steps of a slow `finish`, in the unit of Control::progress (0: uncounted). An interrupt skips it. Empty:
  /// `finish` is quick and only describes the jobs.
  std::optional<std::uint64_t> own_steps = {};
};

/// Where the simulation of a cell can be cut, so that several processes can run batches of it.
enum class CutBetween { nothing, trials, rounds };

/// How an experiment can use recorded models, which have acceptance rates but neither rows nor tokens.
enum class Recordings {
  none,        ///< not at all: it needs rows or tokens
  decoding,    ///< it needs only which tokens are accepted
  rates_alone  ///< it needs only acceptance rates and decodes nothing
};

/// A kind of run. The defaults suit most experiments.
struct Experiment {
  std::string name;
  std::string sentence;
  /// Keys of the sections that it reads; results include them with their defaults.
  std::vector<std::string> sections = {};
  /// Throws ConfigError for a cell that cannot be run for reasons visible in the config alone. Every cell is
  /// checked before any is prepared, so that nothing is built in vain. Null: `prepare` finds all errors, and
  /// quickly.
  std::function<void(const Config& cell)> check = nullptr;
  /// Builds what the cell runs. Throws ConfigError for a config that cannot be run.
  std::function<Work(const CellSpec& cell, JobList& jobs)> prepare;
  /// Divides one cell into several; null: cells are not divided.
  std::function<std::vector<CellSpec>(CellSpec cell)> split = nullptr;
  /// Returns the number of intervals of one cell that have the confidence together if "simultaneous" is set.
  /// By default three: so many of the metrics that formulas predict are not functions of one another.
  std::function<int(const Config& cell)> intervals = [](const Config&) { return 3; };
  /// True if cells have neither jobs nor own steps, and give the same result whenever they are computed. The
  /// cells of a large grid are then not held (RunResult::all).
  bool closed_forms = false;
  Recordings recordings = Recordings::none;
  /// True if it judges printed values by a formula.
  bool judges_printed = false;
  /// True if it can continue until an interval is narrow: its only job, or `finish` if that has own steps.
  bool until = false;
  /// False if results must be measured again after an interrupt.
  bool resumable = true;
  /// If a cell can be cut, all its work must be in jobs.
  CutBetween cut = CutBetween::nothing;
  /// Keys of a config on which jobs seldom depend. Cells that differ only in these are run by one process,
  /// since they probably share their jobs. Results do not depend on this list.
  std::vector<std::string> not_of_jobs = {"cost", "input_rounding"};
  /// The key and the description of CellResult::own; empty and null if there is none.
  std::string own_key = {};
  TypePtr own_result = nullptr;
  /// The description of Timings::own; null if there is none.
  TypePtr own_timings = nullptr;
  /// How its results are shown (experiments/results/presentation.hpp). Code that runs the experiment never
  /// uses it.
  std::shared_ptr<const Presentation> presentation;
};

/// Returns the list of all experiments; tests and other programs may add some.
std::vector<const Experiment*>& experiments();
/// Returns the experiment with this present or former name; null if there is none.
const Experiment* find_experiment(const std::string& name);

}  // namespace speclab

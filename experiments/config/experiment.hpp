// Declares an experiment: a kind of run that a config can ask for. Each has its own file or folder in
// experiments/studies, with code and presentation, and a line in all_experiments.cpp.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
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

/// Input of `finish` besides the jobs' outcomes.
struct RunContext {
  double confidence;  ///< confidence of every interval
  const Control& control;
  Timings& timings;
};

/// The work of one cell. The cell and its jobs outlive it.
struct Work {
  /// Simulations, which run in parallel with those of other cells. Cells may share them (JobList).
  std::vector<Job*> jobs = {};
  /// Fills in the result from the jobs' outcomes; the result already holds the values that the cell sets.
  /// Throws Stopped (core/stop.hpp) if it is interrupted before it has anything to show.
  std::function<void(CellResult& result, const RunContext& context)> finish;
  /// Steps of a slow `finish`, in the unit of Control::progress (0: uncounted). An interrupt skips it. Empty:
  /// `finish` is quick and only summarises the jobs.
  std::optional<std::uint64_t> own_steps = {};
};

/// How an experiment can use recordings, which have acceptance rates but neither rows nor tokens.
enum class Recordings {
  none,        ///< not at all: it needs rows or tokens
  decoding,    ///< it needs only which tokens are accepted
  rates_alone  ///< it needs only acceptance rates and decodes nothing
};

/// A kind of run. The defaults suit most experiments.
struct Experiment {
  std::string name;
  std::string sentence;
  /// Keys of the config sections that it reads; results include them with their defaults.
  std::vector<std::string> sections = {};
  /// Lists the keys that it reads besides those of every experiment, whole ("simulation") or in part
  /// ("simulation/trials"). All other keys are refused, and results leave them out.
  std::vector<std::string> reads = {};
  /// Lists the keys that it reads only beside "models", if it also runs without.
  std::vector<std::string> reads_with_models = {};
  /// Says, for a key that it does not read, what a user can do instead. Each text ends a sentence.
  std::map<std::string, std::string> instead = {};
  /// Throws ConfigError for a cell whose config alone shows that it cannot run. All cells are checked before
  /// any is prepared. Null: `prepare` finds all errors, and quickly.
  std::function<void(const Config& cell)> check = nullptr;
  /// Builds what the cell runs. Throws ConfigError for a config that cannot be run.
  std::function<Work(const CellSpec& cell, JobList& jobs)> prepare;
  /// Divides one cell into several; null: cells are not divided.
  std::function<std::vector<CellSpec>(CellSpec cell)> split = nullptr;
  /// Returns how many intervals of a cell hold jointly at the stated confidence if "simultaneous" is set.
  /// Default 3: the metrics with formulas have three that are not functions of one another.
  std::function<int(const Config& cell)> intervals = [](const Config&) { return 3; };
  /// True if cells have no simulations (Work::jobs) and no slow `finish` (Work::own_steps), and computing
  /// them again gives the same result. A large grid is then not kept in memory (RunResult::all).
  bool closed_forms = false;
  Recordings recordings = Recordings::none;
  /// True if it judges printed values by a formula.
  bool judges_printed = false;
  /// False if an interrupted run cannot be continued and is measured again.
  bool resumable = true;
  /// Config keys on which jobs seldom depend. One shard runs all cells that differ only in these, as they
  /// probably share jobs. Results do not depend on this list.
  std::vector<std::string> not_of_jobs = {};
  /// The key and the description of CellResult::own; empty and null if there is none.
  std::string own_key = {};
  TypePtr own_result = nullptr;
  /// The description of Timings::own; null if there is none.
  TypePtr own_timings = nullptr;
  /// How results are shown (experiments/results/presentation.hpp). Code that runs the experiment never uses
  /// it.
  std::shared_ptr<const Presentation> presentation;
};

/// Returns the list of all experiments; tests and other programs may add some.
std::vector<const Experiment*>& experiments();
/// Returns the experiment with this present or former name; null if there is none.
const Experiment* find_experiment(const std::string& name);

}  // namespace speclab

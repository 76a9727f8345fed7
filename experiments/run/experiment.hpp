// An experiment: what a config can ask for. One file or folder of experiments/studies each, with its code and
// its presentation; one line in all_experiments.cpp.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "experiments/run/config.hpp"
#include "experiments/run/result.hpp"
#include "experiments/run/timings.hpp"
#include "sim/control.hpp"

namespace speclab {

class JobList;
struct Job;
struct Presentation;

/// One cell of a config's grid: its own config, and what stands beside it in tables.
struct CellSpec : CaseConfig {
  Config config;
};

/// What a cell needs for its part of the result.
struct RunContext {
  double confidence;  ///< of every interval
  const Control& control;
  Timings& timings;
};

/// A cell that is ready to run.
class PreparedCell {
 public:
  PreparedCell() = default;
  PreparedCell(const PreparedCell&) = delete;
  PreparedCell& operator=(const PreparedCell&) = delete;
  virtual ~PreparedCell() = default;

  /// Simulations that run before `run`, in parallel with those of other cells.
  std::vector<Job*> jobs;

  /// Steps of `run` itself, in the unit of Control::progress; 0 when it only describes its jobs.
  virtual std::uint64_t workload() const { return 0; }
  /// Whether `run` works for a noticeable time, so that it is left out after an interrupt.
  virtual bool works() const { return workload() > 0; }
  /// Whether `run` itself ends when an interval is as narrow as "until" says.
  virtual bool looks() const { return false; }
  /// Fills in the result, which has what the cell sets already; when it was stopped, sets result.partial
  /// and nothing else.
  virtual void run(CellResult& result, const RunContext& context) = 0;
};

/// How several processes can share the work of a cell.
struct Division {
  std::uint32_t batches = 1;  ///< that can be run apart; above 1 all work of the cell is in jobs
  /// Cells of one such name are run together, since they are likely to share jobs, and have as many batches;
  /// empty: alone. Results do not depend on it.
  std::string jobs = {};
};
/// Of a cell whose jobs decode, or measure acceptance, from the set-up of its config: named by all of the
/// config but what decoding seldom depends on, its cost and `others`.
Division division_of_decoding(const Config& cell, const std::vector<std::string>& others = {});

/// What is left out is as most experiments have it.
struct Experiment {
  std::string name;
  std::string sentence;
  std::vector<std::string> aliases = {};
  /// Keys of the sections that it reads; results carry them with their defaults.
  std::vector<std::string> sections = {};
  /// Builds what the cell runs. Throws ConfigError for a config that cannot be run.
  std::function<std::unique_ptr<PreparedCell>(const CellSpec& cell, JobList& jobs)> prepare;
  /// Cuts a cell of a config into several; null for one that stays whole.
  std::function<std::vector<CellSpec>(CellSpec cell)> parts = nullptr;
  /// Intervals of one cell that hold together when "simultaneous" is set. Of the metrics that are compared
  /// with formulas three are not functions of one another.
  std::function<int(const Config& cell)> intervals = [](const Config&) { return 3; };
  /// False for results that must be measured again after an interrupt.
  bool resumable = true;
  /// How several processes can share the work of a cell; by default they cannot.
  std::function<Division(const Config& cell)> division = [](const Config&) { return Division{}; };
  /// True when every simulation is a job that a GPU can run.
  bool runs_on_gpu = false;
  /// Why printed values cannot be judged, as a sentence with a remedy; empty when they can.
  std::string printed_unsupported_reason = {};
  /// The key and the description of CellResult::own; null when there is nothing.
  std::string own_key = {};
  TypePtr own_result = nullptr;
  /// How its results are shown (experiments/results/presentation.hpp), which running them never looks at.
  std::shared_ptr<const Presentation> presentation;
};

/// Every experiment; tests and other programs may add some.
std::vector<const Experiment*>& experiments();
/// The experiment of a present or former name, null when there is none.
const Experiment* find_experiment(const std::string& name);

/// A cell's own result, for experiments whose struct is T.
template <class T>
const T& own(const CellResult& cell) {
  return cell.own.as<T>();
}

}  // namespace speclab

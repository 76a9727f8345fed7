// An experiment: what a config can ask for. One folder each, with its code and its presentation; one line in
// all_experiments.cpp.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "experiments/config/config.hpp"
#include "experiments/report/figure.hpp"
#include "experiments/report/page.hpp"
#include "experiments/run/result.hpp"
#include "experiments/run/timings.hpp"
#include "sim/control.hpp"

namespace speclab {

class JobList;
struct Job;

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
  std::string jobs = {};      ///< cells of one such name stay together, since they share jobs; empty: alone
};
/// Of a cell whose jobs decode, or measure acceptance, from the set-up of its config.
Division division_of_decoding(const Config& cell);

class Experiment {
 public:
  Experiment(std::string name, std::string sentence, std::vector<std::string> aliases = {})
      : name_(std::move(name)), sentence_(std::move(sentence)), aliases_(std::move(aliases)) {}
  Experiment(const Experiment&) = delete;
  Experiment& operator=(const Experiment&) = delete;
  virtual ~Experiment() = default;

  const std::string& name() const { return name_; }
  const std::string& sentence() const { return sentence_; }
  const std::vector<std::string>& aliases() const { return aliases_; }

  /// Keys of the sections that it reads; results carry them with their defaults.
  virtual std::vector<std::string> sections() const { return {}; }
  /// Whether it cuts the cells of a config into several each, and into which.
  virtual bool cuts_cells() const { return false; }
  virtual std::vector<CellSpec> parts(CellSpec cell) const;
  /// Builds what the cell runs. Throws ConfigError for a config that cannot be run.
  virtual std::unique_ptr<PreparedCell> prepare(const CellSpec& cell, JobList& jobs) const = 0;
  /// Intervals of one cell that hold together when "simultaneous" is set. Of the metrics that are compared
  /// with formulas three are not functions of one another.
  virtual int intervals(const Config& cell) const;
  /// False for results that must be measured again after an interrupt.
  virtual bool resumable() const { return true; }
  /// How several processes can share the work of a cell; by default they cannot.
  virtual Division division(const Config& cell) const;
  /// True when every simulation is a job that a GPU can run.
  virtual bool runs_on_gpu() const { return false; }
  /// Why printed values cannot be judged, as a sentence with a remedy; empty when they can.
  virtual std::string printed_unsupported_reason() const { return {}; }

  /// The key and the description of CellResult::own; null when there is nothing.
  virtual std::string own_key() const { return {}; }
  virtual TypePtr own_result() const { return nullptr; }

  /// Presentation, from results alone. Unless overridden: tables of metrics, curves or heat maps of sweeps,
  /// one row per cell.
  virtual std::vector<Metric> shown_metrics() const { return {}; }
  /// What is drawn of a sweep that does not say.
  virtual Metric figure_metric() const { return Metric::speedup; }
  /// What the verdict of a cell says besides; empty for nothing.
  virtual std::string remark(const CellResult&) const { return {}; }
  /// Further columns of the table of metrics, and their cells: as many.
  virtual std::vector<std::string> more_columns(const Result&) const { return {}; }
  virtual std::vector<Cell> more_cells(const CellResult&) const { return {}; }
  /// What the note of the table of metrics says besides; empty for nothing.
  virtual std::string table_note() const { return {}; }
  virtual std::vector<Table> tables(const Result& result, const Timings& timings,
                                    const std::string& id) const;
  virtual std::vector<Figure> figures(const Result& result, const Timings& timings) const;
  virtual std::vector<Passage> passages(const Result& result, const std::string& id) const;
  /// Unless overridden: a row of metrics a cell.
  virtual std::string csv(const Result& result, const Timings& timings) const;
  /// Further files of the result's folder: name and content.
  virtual std::vector<std::pair<std::string, std::string>> files(const Result& result) const;
  /// True when `csv` or `files` is overridden: then all cells are held in memory at once.
  virtual bool needs_all_cells() const { return false; }
  /// What was found, in a sentence or two. Unless overridden: verdicts, agreement with the formula, and the
  /// estimate of one cell or the range of several.
  virtual std::string headline(const Result& result, const Timings& timings) const;
  /// What the summary of `reproduce` says of results without verdicts: "measured here".
  virtual std::string outcome() const { return "measured here"; }

 private:
  std::string name_;
  std::string sentence_;
  std::vector<std::string> aliases_;
};

/// Every experiment; tests and other programs may add some.
std::vector<const Experiment*>& experiments();
/// The experiment of a present or former name, null when there is none.
const Experiment* find_experiment(const std::string& name);

/// Steps that a cell's own result takes, typed: for experiments whose struct is T.
template <class T>
const T& own(const CellResult& cell) {
  return *static_cast<const T*>(cell.own.get());
}

}  // namespace speclab

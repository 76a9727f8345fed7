// The result of a config. result.json is written and read from these structs only here; tables, figures and
// pages are made from them alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/statistics/estimates.hpp"
#include "experiments/base/format/formats.hpp"
#include "experiments/base/format/interval_fields.hpp"
#include "experiments/catalog/rules/rule_kind.hpp"
#include "experiments/config/metric.hpp"
#include "experiments/config/shown_config.hpp"
#include "experiments/run/corpus_facts.hpp"
#include "experiments/run/input_file.hpp"
#include "sim/simulation_size.hpp"

namespace speclab {

template <>
const Typed<InputFile>& described();

/// The source of the alpha in closed forms.
enum class AlphaSource { given, exact, measured };

/// The relation of a printed number to the formula.
enum class Reproduction { reproduces, within_input_rounding, does_not_reproduce };
const char* words(Reproduction verdict);

/// Counts of work. Counts that an experiment does not make are empty.
struct Counts {
  std::optional<std::uint64_t> contexts, searches, identical, rounds, drafted, draft_runs, examined, accepted,
      emitted, target_rows, draft_rows, plain_rows;

  bool empty() const { return !rounds && !contexts; }
};

/// Returns the counts of rounds and their tokens.
Counts counts_of(const Tally& tally);

/// The engine that decoded, and counts of its work that are the same on every machine.
struct EngineResult {
  std::string name;
  std::optional<std::uint64_t> random_blocks = {}, residual_passes = {};
  std::optional<std::string> why_plain = {};  ///< reason why the requested fast engine did not run
};

/// The end of a simulation whose config says how narrow an interval must be.
struct UntilResult {
  bool reached = false;  ///< the width was reached before the limit on rounds
  int looks = 0;         ///< number of looks at the interval
  int most_looks = 0;    ///< number of looks whose intervals have the confidence together
  std::uint32_t trials = 0,
                batches = 0;  ///< at the last look: a simulation of this size has the same counts
};

struct CellResult : CaseConfig {
  bool partial = false;  ///< interrupted; the members below are then empty

  std::optional<AlphaSource> formula_alpha;
  std::optional<double> exact_alpha;
  ByMetric<double> formula;
  ByMetric<Interval> simulated;
  std::vector<Metric> proved;  ///< metrics of `simulated` that serve as a proof
  ByMetric<Reproduction> verdict;
  OrderedMap<bool> agreement;      ///< formula within interval, by metric or schedule, where it can judge
  std::optional<RuleConfig> rule;  ///< set if parameters of the config's rule were measured
  std::optional<EngineResult> engine;
  std::optional<UntilResult> until;
  Counts counts;
  std::vector<PositionAcceptance> positions;  ///< at drafted positions 1 to gamma
  AnyStruct own;                              ///< the experiment's own part; see Experiment::own_result
};

/// Returns the printed value of a metric; null if there is none.
const std::string* printed_value(const CellResult& cell, Metric metric);

/// The part of a result before its cells.
struct ResultHead {
  std::string version;
  int format = result_format;
  std::string title;
  std::shared_ptr<const Config> config;  ///< includes the sections of its experiment
  std::vector<InputFile> inputs;         ///< files from which the config's models and texts were read
  std::optional<std::vector<CorpusFacts>> corpora = {};  ///< each corpus of the cells once; empty without any
  double interval_confidence = 0.95;
  bool partial = false;

  const ShownConfig& shown() const;  ///< shown part of the config
};

struct Result : ResultHead {
  std::vector<CellResult> cells;
};

/// The cells of a result in order. They may be more than memory holds.
class CellSource {
 public:
  CellSource() = default;
  CellSource(const CellSource&) = delete;
  CellSource& operator=(const CellSource&) = delete;
  virtual ~CellSource() = default;

  virtual std::size_t size() const = 0;
  /// Calls `use` for each cell, starting from the first at every call.
  virtual void each(const std::function<void(const CellResult& cell)>& use) const = 0;
  /// Does the same with the cells as result.json holds them.
  virtual void each_json(const std::function<void(const Json& cell)>& use) const = 0;
};

/// The cells of a result in memory, which must outlive this object.
class HeldCells final : public CellSource {
 public:
  explicit HeldCells(const Result& result) : result_(result) {}
  std::size_t size() const override { return result_.cells.size(); }
  void each(const std::function<void(const CellResult& cell)>& use) const override;
  void each_json(const std::function<void(const Json& cell)>& use) const override;

 private:
  const Result& result_;
};

/// Returns the cells of an experiment with `closed_forms`, computed again at each iteration. `config` must
/// have the sections of its experiment. Iteration ends with Stopped (core/stop.hpp) once the work shall end.
std::shared_ptr<const CellSource> recomputed_cells(const Config& config, double confidence);

/// Returns one cell of an experiment as result.json and the journal hold it.
Json cell_json(const Experiment& experiment, const CellResult& cell);
/// Reads such a cell. Throws ConfigError if it is not one.
CellResult read_cell(const Experiment& experiment, const Json& json);

Json result_json(const Result& result);
/// Writes the text of result.json in pieces: as JSON values a million cells would take several times the
/// memory. The cells are those of `cells`, instead of the result's own.
void write_text(const Result& result, const CellSource& cells,
                const std::function<void(const std::string& piece)>& out);
void write_text(const Result& result, const std::function<void(const std::string& piece)>& out);
/// Returns the config of a result.json; if write_text wrote it, only its head is read. Throws ConfigError if
/// the file is not a result.
std::shared_ptr<const Config> config_of_result(const std::filesystem::path& file);
/// Reads a result. Throws ConfigError if it is not one.
Result read_result(const Json& json);

/// Numbers of intervals: those that were compared with the closed form, and those of them that contain it.
struct Agreement {
  std::size_t held = 0;
  std::size_t compared = 0;
};
Agreement agreement(const CellResult& cell);
Agreement agreement(const Result& result);

/// Returns the estimates of a run that are metrics.
ByMetric<Interval> simulated_metrics(const std::vector<Tally>& batches, const CostRatios& cost,
                                     double confidence, Independence independence,
                                     const RunLimits& limits = {});

/// Returns true if the cell has an estimate whose error is unknown.
bool has_unknown_error(const CellResult& cell);

/// Returns a cell's own result, for experiments whose struct is T.
template <class T>
const T& own(const CellResult& cell) {
  return cell.own.as<T>();
}

}  // namespace speclab

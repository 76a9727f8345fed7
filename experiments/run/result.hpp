// The result of a config, and its JSON form. Tables, figures and pages are made from these structs alone.
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
#include "experiments/base/format/json_io.hpp"
#include "experiments/base/format/result_fields.hpp"
#include "experiments/catalog/rules/rule_kind.hpp"
#include "experiments/config/metric.hpp"
#include "experiments/config/shown_config.hpp"
#include "experiments/run/corpus_facts.hpp"
#include "experiments/run/input_file.hpp"
#include "sim/simulation_size.hpp"

namespace speclab {

SPECLAB_IS_DESCRIBED(InputFile);

/// Where the alpha of the closed forms comes from.
enum class AlphaSource { given, exact, measured };

/// How a printed number compares with the formula.
/// `cut_off`: the value without its further digits is printed, though it rounds to another.
enum class Reproduction { reproduces, within_input_rounding, does_not_reproduce, cut_off };
const char* words(Reproduction verdict);
/// Returns half a unit of the last digit of a printed decimal: 0.005 for "2.44", 5e-7 for "1.5e-5".
double half_unit_of(const std::string& printed);

/// Counts of work; empty if an experiment does not count them.
struct Counts {
  std::optional<std::uint64_t> contexts, searches, identical, rounds, drafted, draft_runs, examined, accepted,
      emitted, target_rows, draft_rows, plain_rows;

  bool empty() const { return !rounds && !contexts; }
};

/// Returns the counts of rounds and their tokens.
Counts counts_of(const Tally& tally);

/// The engine that decoded, and counts of its work, which are equal on every machine.
struct EngineResult {
  std::string name;
  std::optional<std::uint64_t> random_blocks = {}, residual_passes = {};
  std::optional<std::string> why_plain = {};  ///< reason why the requested fast engine did not run
};

/// How a simulation with "until" ended.
struct UntilResult {
  bool reached = false;  ///< narrow enough before the limit on rounds
  int looks = 0;         ///< number of interim analyses of the interval
  int max_looks = 0;     ///< largest possible number; so many intervals hold jointly at the confidence
  std::uint32_t trials = 0,
                batches = 0;  ///< final size: a simulation of this fixed size has the same counts
};

struct CellResult : CaseConfig {
  bool partial = false;  ///< interrupted; later members are then empty

  std::optional<AlphaSource> formula_alpha;
  std::optional<double> exact_alpha;
  ByMetric<double> formula;
  ByMetric<Interval> simulated;
  std::vector<Metric> proved;  ///< metrics of `simulated` whose values are proved
  ByMetric<Reproduction> verdict;
  OrderedMap<bool> agreement;      ///< interval contains the formula; by metric or schedule, where known
  std::optional<RuleConfig> rule;  ///< set if parameters of the config's rule were measured
  std::optional<EngineResult> engine;
  std::optional<UntilResult> until;
  Counts counts;
  std::vector<PositionAcceptance> positions;  ///< at drafted positions 1 to gamma
  AnyStruct own;                              ///< the experiment's own part; see Experiment::own_result
};

/// Compares a printed number with a value that lies between `least` and `most` for all inputs that round to
/// the printed ones. Never returns `cut_off`.
Reproduction judged(double value, double least, double most, const std::string& printed);

/// Returns the printed value of a metric; null if there is none.
const std::string* printed_value(const CellResult& cell, Metric metric);

/// The part of a result before its cells.
struct ResultHead {
  std::string version;
  int format = result_format;
  std::string title;
  std::shared_ptr<const Config> config;  ///< includes the sections of its experiment
  std::vector<InputFile> inputs;         ///< files from which the config's models and texts were read
  std::optional<std::vector<CorpusFacts>> corpora = {};  ///< each corpus once; empty without any
  double interval_confidence = 0.95;
  bool partial = false;

  const ShownConfig& shown() const;  ///< shown part of the config
};

struct Result : ResultHead {
  std::vector<CellResult> cells;
};

/// A result's cells in order; memory may not hold them all.
class CellSource {
 public:
  CellSource() = default;
  CellSource(const CellSource&) = delete;
  CellSource& operator=(const CellSource&) = delete;
  virtual ~CellSource() = default;

  virtual std::size_t size() const = 0;
  /// Calls `use` for each cell, from the first.
  virtual void each(const std::function<void(const CellResult& cell)>& use) const = 0;
  /// Calls `use` with the JSON of each cell in result.json, from the first.
  virtual void each_json(const std::function<void(const Json& cell)>& use) const = 0;
};

/// A result's own cells, in memory. The result must outlive this object.
class HeldCells final : public CellSource {
 public:
  explicit HeldCells(const Result& result) : result_(result) {}
  std::size_t size() const override { return result_.cells.size(); }
  void each(const std::function<void(const CellResult& cell)>& use) const override;
  void each_json(const std::function<void(const Json& cell)>& use) const override;

 private:
  const Result& result_;
};

/// Returns the cells of an experiment with `closed_forms`, computed anew at each iteration, which throws
/// Stopped (core/stop.hpp) on an interrupt. `config` must have its experiment's sections.
std::shared_ptr<const CellSource> recomputed_cells(const Config& config, double confidence);

/// Returns a cell's JSON in result.json and journals.
Json cell_json(const Experiment& experiment, const CellResult& cell);
/// Reads such JSON. Throws ConfigError if it is none.
CellResult read_cell(const Experiment& experiment, const Json& json);

/// Writes result.json in pieces, because a million cells as JSON values need several times the memory. The
/// cells are those of `cells`, instead of the result's own.
void write_text(const Result& result, const CellSource& cells,
                const std::function<void(const std::string& piece)>& out);
/// Returns what stands before the cells in a result.json; reads only that if write_text wrote it. Throws
/// ConfigError if the file is not a run's result.
ResultHead result_head(const std::filesystem::path& file);
/// Reads a result. Throws ConfigError if it is not one.
Result read_result(const Json& json);

/// Numbers of intervals that were compared with the closed form (`compared`), and that contain it (`held`).
struct Agreement {
  std::size_t held = 0;
  std::size_t compared = 0;
};
Agreement agreement(const CellResult& cell);
Agreement agreement(const Result& result);

/// Returns a run's estimates of metrics.
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

// What a config gave. result.json is these structs, written and read at one place; tables, figures and pages
// are made from them alone.
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

/// Where the alpha of the closed forms comes from.
enum class AlphaSource { given, exact, measured };

/// How a printed number relates to the formula.
enum class Reproduction { reproduces, within_input_rounding, does_not_reproduce };
const char* words(Reproduction verdict);

/// Counts of work; those that an experiment does not count are left out.
struct Counts {
  std::optional<std::uint64_t> contexts, searches, identical, rounds, drafted, draft_runs, examined, accepted,
      emitted, target_rows, draft_rows, plain_rows;

  bool empty() const { return !rounds && !contexts; }
};

/// Rounds and their tokens.
Counts counts_of(const Tally& tally);

/// How decoding ran, and counts of its work that are the same on every machine.
struct EngineResult {
  std::string name;
  std::optional<std::uint64_t> random_blocks = {}, residual_passes = {};
  std::optional<std::string> why_plain = {};  ///< why the fast engine, which was to run, did not
};

/// How a simulation ended whose config says how narrow an interval is to be.
struct UntilResult {
  bool reached = false;  ///< the width, before there would have been too many rounds
  int looks = 0;         ///< at the interval
  int most_looks = 0;    ///< that the intervals hold for together
  std::uint32_t trials = 0,
                batches = 0;  ///< that there were at the last: a simulation of these has the same counts
};

struct CellResult : CaseConfig {
  bool partial = false;  ///< interrupted; nothing below is then there

  std::optional<AlphaSource> formula_alpha;
  std::optional<double> exact_alpha;
  ByMetric<double> formula;
  ByMetric<Interval> simulated;
  std::vector<Metric> proved;  ///< of `simulated`, those that stand for a proof
  ByMetric<Reproduction> verdict;
  OrderedMap<bool> agreement;      ///< formula within interval, by metric or schedule, where it can judge
  std::optional<RuleConfig> rule;  ///< when parameters of the config's rule were measured
  std::optional<EngineResult> engine;
  std::optional<UntilResult> until;
  Counts counts;
  std::vector<PositionAcceptance> positions;  ///< drafted, 1 to gamma
  AnyStruct own;                              ///< what the experiment alone has; see Experiment::own_result
};

/// The printed value of a metric; null when there is none.
const std::string* printed_value(const CellResult& cell, Metric metric);

/// What a result says before its cells.
struct ResultHead {
  std::string version;
  int format = result_format;
  std::string title;
  std::shared_ptr<const Config> config;  ///< with the sections of its experiment
  std::vector<InputFile> inputs;         ///< what the config's models and texts were read from
  std::optional<std::vector<CorpusFacts>> corpora =
      {};  ///< of the cells' key "corpus", each once; none without
  double interval_confidence = 0.95;
  bool partial = false;

  const ShownConfig& shown() const;  ///< of the config
};

struct Result : ResultHead {
  std::vector<CellResult> cells;
};

/// The cells of a result in order, which may be more than memory holds.
class CellSource {
 public:
  CellSource() = default;
  CellSource(const CellSource&) = delete;
  CellSource& operator=(const CellSource&) = delete;
  virtual ~CellSource() = default;

  virtual std::size_t size() const = 0;
  /// Hands over one after another, from the first each time.
  virtual void each(const std::function<void(const CellResult& cell)>& use) const = 0;
  /// The same as they stand in result.json.
  virtual void each_json(const std::function<void(const Json& cell)>& use) const = 0;
};

/// The cells of a result in memory, which outlives it.
class HeldCells final : public CellSource {
 public:
  explicit HeldCells(const Result& result) : result_(result) {}
  std::size_t size() const override { return result_.cells.size(); }
  void each(const std::function<void(const CellResult& cell)>& use) const override;
  void each_json(const std::function<void(const Json& cell)>& use) const override;

 private:
  const Result& result_;
};

/// The cells of an experiment that is `closed_forms`, with the sections of which `config` comes, computed
/// whenever they are gone over. That ends with Stopped (core/stop.hpp) once it shall.
std::shared_ptr<const CellSource> recomputed_cells(const Config& config, double confidence);

/// One cell of an experiment, as it stands in result.json and in the journal.
Json cell_json(const Experiment& experiment, const CellResult& cell);
/// Throws ConfigError for what is not such a cell.
CellResult read_cell(const Experiment& experiment, const Json& json);

Json result_json(const Result& result);
/// The text of result.json, in pieces: as JSON values a million cells take several times the memory. The
/// cells are those of `cells`, in place of the result's own.
void write_text(const Result& result, const CellSource& cells,
                const std::function<void(const std::string& piece)>& out);
void write_text(const Result& result, const std::function<void(const std::string& piece)>& out);
/// The config of a result.json, from its head alone where it was written by write_text. Throws ConfigError
/// for what is not a result.
std::shared_ptr<const Config> config_of_result(const std::filesystem::path& file);
/// Throws ConfigError for what is not a result.
Result read_result(const Json& json);

/// Intervals that the closed form fell within, of those that were compared.
struct Agreement {
  std::size_t held = 0;
  std::size_t compared = 0;
};
Agreement agreement(const CellResult& cell);
Agreement agreement(const Result& result);

/// The estimates of a run that are metrics.
ByMetric<Interval> simulated_metrics(const std::vector<Tally>& batches, const CostRatios& cost,
                                     double confidence, Independence independence,
                                     const RunLimits& limits = {});

/// Whether the cell has an estimate whose error is not known.
bool has_unknown_error(const CellResult& cell);

/// A cell's own result, for experiments whose struct is T.
template <class T>
const T& own(const CellResult& cell) {
  return cell.own.as<T>();
}

}  // namespace speclab

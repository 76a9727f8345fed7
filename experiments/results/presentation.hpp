// Declares how the results of an experiment are shown, using the results alone.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "experiments/base/page/figure.hpp"
#include "experiments/base/page/passage.hpp"
#include "experiments/base/page/table.hpp"
#include "experiments/config/experiment.hpp"
#include "experiments/config/shown_config.hpp"
#include "experiments/run/result.hpp"
#include "experiments/run/timings.hpp"

namespace speclab {

/// The contents of the table of metrics, which has one row per cell, and of the figures of metrics.
struct MetricTable {
  std::vector<Metric> shown = {};
  /// The metric drawn for a sweep whose config names none.
  Metric figure = Metric::speedup;
  /// Returns an addition to the verdict of a cell; may be empty.
  std::function<std::string(const CellResult& cell)> remark = nullptr;
  /// Return further columns and their cells, equally many.
  std::function<std::vector<std::string>(const Result& result)> columns = nullptr;
  std::function<std::vector<Cell>(const CellResult& cell)> cells = nullptr;
  /// An addition to the note of the table; may be empty.
  std::string note = {};
};

/// Returns tables of metrics with one row per cell; a single cell also has a table of its positions.
std::vector<Table> metric_tables(const Result& result, const Timings& timings, const std::string& id);
/// Returns a table with one row per cell of the experiment's own result, and a column for each number or text
/// of its description.
std::vector<Table> own_tables(const Result& result, const Timings& timings, const std::string& id);
/// Returns the figures of a sweep, or those of cases if the config asks for none.
std::vector<Figure> metric_figures(const Result& result, const Timings& timings);
/// Returns the figures that the config asks for; for a sweep without any, curves or a heat map over its axes.
std::vector<Figure> sweep_figures(const Result& result);

/// A metric over what cells set. A key is a JSON pointer, a column of results.csv, the last part of either,
/// or "label". What is empty is as in the config's first figure or, without one, as the page chooses.
struct FigureChoice {
  std::string x = {}, y = {}, series = {};  ///< key, metric, key
  std::vector<std::string> where = {};      ///< "c=0.05": only cells that set this
  bool heat = false;                        ///< cells over x and series, coloured by y
  bool log_x = false, log_y = false, log_z = false;

  bool chooses() const { return heat || !(x.empty() && y.empty() && series.empty() && where.empty()); }
};

/// Returns one figure for each combination of the values of further keys. Throws UsageError for a name that
/// does not exist (the message lists those that do), for more curves or figures than can be told apart, and
/// if no cell has the metric.
std::vector<Figure> chosen_figures(const Result& result, const FigureChoice& choice);
/// Draws acceptance by position for a single simulated cell. Otherwise draws one row per cell with the
/// printed, computed and simulated values of each of the first metrics shown.
std::vector<Figure> case_figures(const Result& result);
/// Returns the verdicts, the agreement with the formula, and the estimate of one cell or the range of
/// several.
std::string metric_headline(const Result& result, const Timings& timings);

/// Writes results.csv with one row per cell of `cells` and every number in full. Its columns are those of
/// ResultRows and, between them, printed, formula and simulated values of every metric with intervals, the
/// values of "measured" and the reason why they differ, and the verdict. Passes the text to `out` in pieces;
/// reads the cells twice.
void write_csv(const Result& result, const CellSource& cells,
               const std::function<void(const std::string& piece)>& out);

/// How an experiment presents its results. Parts that it does not set are shown as metrics are.
struct Presentation {
  MetricTable metrics = {};
  std::function<std::vector<Table>(const Result& result, const Timings& timings, const std::string& id)>
      tables = metric_tables;
  std::function<std::vector<Figure>(const Result& result, const Timings& timings)> figures = metric_figures;
  std::function<std::vector<Passage>(const Result& result, const std::string& id)> passages = nullptr;
  /// States the result in a sentence or two.
  std::function<std::string(const Result& result, const Timings& timings)> headline = metric_headline;
  /// Returns results.csv if it is not one row of metrics per cell. All cells are then held in memory at once.
  std::function<std::string(const Result& result, const Timings& timings)> csv = nullptr;
  /// The text of the summary of `reproduce` for results without verdicts.
  std::string outcome = "measured here";

  bool needs_all_cells() const { return csv != nullptr; }
};

/// Makes the value of Experiment::presentation.
std::shared_ptr<const Presentation> presented(Presentation how);

/// Returns the presentation of a config's experiment.
const Presentation& presentation_of(const ShownConfig& config);

std::vector<Table> tables_of(const Result& result, const Timings& timings, const std::string& id);
std::vector<Figure> figures_of(const Result& result, const Timings& timings);
std::vector<Passage> passages_of(const Result& result, const std::string& id);
std::string csv_of(const Result& result, const Timings& timings);

}  // namespace speclab

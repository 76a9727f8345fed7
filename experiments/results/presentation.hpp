// Declares how an experiment's results are shown. A presentation reads results alone.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "experiments/base/page/figure.hpp"
#include "experiments/base/page/passage.hpp"
#include "experiments/base/page/table.hpp"
#include "experiments/config/experiment.hpp"
#include "experiments/config/shown_config.hpp"
#include "experiments/run/result.hpp"
#include "experiments/run/timings.hpp"

namespace speclab {

/// The contents of the metric table, with one row per cell, and of metric figures.
struct MetricTable {
  std::vector<Metric> shown = {};
  /// The metric to draw for a sweep whose config names none.
  Metric figure = Metric::speedup;
  /// Returns text to add to a cell's verdict; may be empty.
  std::function<std::string(const CellResult& cell)> remark = nullptr;
  /// Return the titles of further columns, and a row's cells in them.
  std::function<std::vector<std::string>(const Result& result)> columns = nullptr;
  std::function<std::vector<Cell>(const CellResult& cell)> cells = nullptr;
  /// Text to add to the table's note; may be empty.
  std::string note = {};
};

/// Returns tables with one row per cell; for a single cell also a table by position.
std::vector<Table> metric_tables(const Result& result, const Timings& timings, const std::string& id);
/// Return the experiment's own results, a row per cell and a column per key, as a table and as results.csv.
std::vector<Table> own_tables(const Result& result, const Timings& timings, const std::string& id);
std::string own_csv(const Result& result, const Timings& timings);
/// Returns a sweep's figures; for cases for which the config asks for none, case_figures.
std::vector<Figure> metric_figures(const Result& result, const Timings& timings);
/// Returns the figures that the config asks for; if none, curves or a heat map over the sweep's axes.
std::vector<Figure> sweep_figures(const Result& result);

/// A figure of a metric that the user asks for. A key is a JSON pointer, a column of results.csv, the last
/// part of either, or "label". Empty members are taken from the config's first figure; without one, the page
/// chooses.
struct FigureChoice {
  std::string x = {}, y = {}, series = {};  ///< key, metric, key
  std::vector<std::string> where = {};      ///< "c=0.05": only cells with this value
  bool heat = false;                        ///< heat map over x and series, coloured by y
  bool log_x = false, log_y = false, log_z = false;

  bool chooses() const { return heat || !(x.empty() && y.empty() && series.empty() && where.empty()); }
};

/// Returns a figure for each combination of the remaining keys' values. Throws UsageError for an unknown name
/// (the message lists the known ones), for more curves or figures than can be told apart, and if no cell has
/// the metric.
std::vector<Figure> chosen_figures(const Result& result, const FigureChoice& choice);
/// Draws acceptance by position for a single simulated cell; else one row per cell, with the printed,
/// computed and simulated values of each of the first metrics.
std::vector<Figure> case_figures(const Result& result);
/// Returns verdicts, agreement with the formula, and the estimate of one cell or the range over several.
std::string metric_headline(const Result& result, const Timings& timings);

/// Writes results.csv, one row per cell, numbers with all digits. To the columns of ResultRows it adds, for
/// every metric, the printed, formula and simulated values with intervals, then the "measured" values, why
/// they differ, and the verdict. Passes the text to `out` in pieces; reads the cells twice.
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
  /// Returns results.csv, if it is not one row of metrics per cell. Needs all cells in memory at once.
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

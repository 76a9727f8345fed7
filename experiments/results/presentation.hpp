// How the results of an experiment are shown, from the results alone.
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

/// What the table of metrics, one row a cell, and the figures of metrics show.
struct MetricTable {
  std::vector<Metric> shown = {};
  /// What is drawn of a sweep that does not say.
  Metric figure = Metric::speedup;
  /// What the verdict of a cell says besides; empty for nothing.
  std::function<std::string(const CellResult& cell)> remark = nullptr;
  /// Further columns, and their cells: as many.
  std::function<std::vector<std::string>(const Result& result)> columns = nullptr;
  std::function<std::vector<Cell>(const CellResult& cell)> cells = nullptr;
  /// What the note of the table says besides; empty for nothing.
  std::string note = {};
};

/// Tables of metrics: one row a cell, and of a single cell what happened at each position.
std::vector<Table> metric_tables(const Result& result, const Timings& timings, const std::string& id);
/// One row a cell of its own result: a column for each number or text of the description.
std::vector<Table> own_tables(const Result& result, const Timings& timings, const std::string& id);
/// Those of a sweep, or of cases where the config asks for none.
std::vector<Figure> metric_figures(const Result& result, const Timings& timings);
/// The figures that the config asks for; for a sweep without any, curves or a heat map over its axes.
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

/// One figure for each combination of the values that further keys have. Throws UsageError for a name that is
/// not there, with those that are, for more curves or figures than can be told apart, and where no cell has
/// the metric.
std::vector<Figure> chosen_figures(const Result& result, const FigureChoice& choice);
/// Of a lone cell its acceptance by position, where it was simulated. Else one row per cell: what was
/// printed, computed and simulated, for each of the first metrics shown.
std::vector<Figure> case_figures(const Result& result);
/// Verdicts, agreement with the formula, and the estimate of one cell or the range of several.
std::string metric_headline(const Result& result, const Timings& timings);

/// results.csv: one row per cell of `cells`, every number in full, with the columns of ResultRows and between
/// them printed, formula and simulated values of every metric with intervals, what "measured" of the cases
/// says and why that differs, the verdict. Handed over in pieces; goes through the cells twice.
void write_csv(const Result& result, const CellSource& cells,
               const std::function<void(const std::string& piece)>& out);

/// Files of a result's folder: name and content.
using ResultFiles = std::vector<std::pair<std::string, std::string>>;

/// What is left out is shown as metrics are.
struct Presentation {
  MetricTable metrics = {};
  std::function<std::vector<Table>(const Result& result, const Timings& timings, const std::string& id)>
      tables = metric_tables;
  std::function<std::vector<Figure>(const Result& result, const Timings& timings)> figures = metric_figures;
  std::function<std::vector<Passage>(const Result& result, const std::string& id)> passages = nullptr;
  /// What was found, in a sentence or two.
  std::function<std::string(const Result& result, const Timings& timings)> headline = metric_headline;
  /// results.csv, where it is not a row of metrics a cell: then all cells are held in memory at once.
  std::function<std::string(const Result& result, const Timings& timings)> csv = nullptr;
  /// Further files, from all cells as well.
  std::function<ResultFiles(const Result& result)> files = nullptr;
  /// What the summary of `reproduce` says of results without verdicts.
  std::string outcome = "measured here";

  bool needs_all_cells() const { return csv != nullptr || files != nullptr; }
};

/// For Experiment::presentation.
std::shared_ptr<const Presentation> presented(Presentation how);

/// That of a config's experiment.
const Presentation& presentation_of(const ShownConfig& config);

std::vector<Table> tables_of(const Result& result, const Timings& timings, const std::string& id);
std::vector<Figure> figures_of(const Result& result, const Timings& timings);
std::vector<Passage> passages_of(const Result& result, const std::string& id);
std::string csv_of(const Result& result, const Timings& timings);
ResultFiles files_of(const Result& result);

}  // namespace speclab

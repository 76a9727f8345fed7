// A figure as data, and its drawing for a page. See experiments/plot for figures of papers.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "analysis/statistics/intervals.hpp"

namespace speclab {

/// How a series is drawn: computed values as a line (or as steps, or as levels: a short line across each x of
/// a categorical axis), sampled values as points.
enum class SeriesStyle { line, points, steps, levels };

/// Points in the plane, in drawing order. A y that is not finite makes a gap.
struct Series {
  std::string name = {};  ///< shown in the legend; empty: not listed
  SeriesStyle style = SeriesStyle::line;
  std::vector<double> x = {};
  std::vector<double> y = {};
  std::vector<double> low = {};   ///< lower ends of points' error bars or of a line's band; empty: none
  std::vector<double> high = {};  ///< upper ends, as many as in `low`
  /// The index of an earlier series whose colour and marker this one shares; empty: it takes the next ones.
  std::optional<std::size_t> colour_of = {};
  std::vector<std::string> names = {};   ///< a name for each point, shown under the pointer; empty: none
  std::vector<std::string> labels = {};  ///< shorter names, drawn if there is room; "": no label

  void add(double at, double value);
  /// Adds a point with its error bar. An end that is not finite, as with a single batch, is left out.
  void add(double at, const Interval& interval);
};

/// A matrix of coloured cells. Each cell extends halfway to its neighbours (on a logarithmic axis, in the
/// logarithm).
struct HeatMap {
  std::vector<double> x;               ///< centres of the columns, increasing
  std::vector<double> y;               ///< centres of the rows, increasing
  std::vector<std::vector<double>> z;  ///< z[row][column]; left blank if not finite
  std::string z_label;
  bool log_z = false;  ///< colours by the logarithm; cells that are not positive stay blank
};

/// A coloured interval of a timeline.
struct TraceBlock {
  double start = 0;
  double end = 0;
  std::string kind;  ///< "target run", "draft run"; each kind has one colour and one legend entry
};

/// One timeline of a trace diagram, as in Leviathan et al. 2023, Figure 5.
struct TraceRow {
  std::string label;
  std::vector<TraceBlock> blocks;
};

struct AxisRange {
  double low = 0;
  double high = 1;
};

/// Curves and points, with `heat` over a heat map; with `trace` a trace diagram instead.
struct Figure {
  std::string id = {};  ///< a letter, then letters, digits, '-' and '_'; unique on its page
  std::string title = {};
  std::string x_label = {};
  std::string y_label = {};
  bool log_x = false;
  bool log_y = false;
  /// The names at x = 0, 1, 2, ... of a categorical axis; empty: x is a number.
  std::vector<std::string> categories = {};
  std::optional<AxisRange> x_range = {};  ///< empty: chosen from the data
  std::optional<AxisRange> y_range = {};
  std::vector<Series> series = {};
  std::optional<HeatMap> heat = {};
  std::vector<TraceRow> trace = {};  ///< from top to bottom
  std::string caption = {};
  std::string command = {};  ///< the command with which the reader draws it again

  /// Adds a category and returns its place on the axis.
  double add_category(std::string name);
  /// Adds a series, unless it has no points.
  void add(Series one);
};

/// Throws std::invalid_argument if the figure contradicts itself (lengths, order, id) or shows nothing.
void check_figure(const Figure& figure);

struct LegendEntry {
  std::string name;
  std::size_t colour = 0;                ///< index in the palette (colours.hpp)
  std::string sample;                    ///< markup of 24 by 14 units, in the current colour
  std::vector<std::size_t> series = {};  ///< numbers of the series that it shows and hides
};

/// A drawn figure with its title, caption, command and legend.
struct Drawing {
  std::string id;
  std::string title;
  std::string caption;
  std::string command;
  int width = 0;  ///< width of the plot in its own units, which a page scales
  int height = 0;
  std::string plot;  ///< contents of <svg>; colours are currentColor of groups of class "cK"
  std::vector<LegendEntry> legend = {};
  std::string data = {};  ///< JSON for the page's script: the places of points and their values
};

/// Draws the figure. Text is horizontal and large enough for a phone. Coinciding lines are dashed, and
/// coinciding points placed side by side. If there are very many points or cells, only some are drawn, and
/// the caption says so. Throws as `check_figure` does.
Drawing draw(const Figure& figure);

/// Returns the drawing as a separate document, with its legend below and without its title.
std::string svg_file(const Drawing& drawing);

}  // namespace speclab

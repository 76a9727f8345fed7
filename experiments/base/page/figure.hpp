// A figure as plain data, and its drawing for a page. For papers see experiments/plot.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "analysis/statistics/intervals.hpp"

namespace speclab {

/// How a series looks: what is computed is a line (or steps; or levels, a short line across each x of a
/// categorical axis), what is sampled is points.
enum class SeriesStyle { line, points, steps, levels };

/// Points in the plane, in drawing order. A y that is not finite is a gap.
struct Series {
  std::string name = {};  ///< in the legend; empty: not listed
  SeriesStyle style = SeriesStyle::line;
  std::vector<double> x = {};
  std::vector<double> y = {};
  std::vector<double> low = {};   ///< ends of the error bars of points, or of the band of a line; empty: none
  std::vector<double> high = {};  ///< as long as `low`
  /// The index of an earlier series whose colour and marker to share; none: the next colour and marker.
  std::optional<std::size_t> colour_of = {};
  std::vector<std::string> names = {};   ///< of points, as long as `x`, told under the pointer; empty: none
  std::vector<std::string> labels = {};  ///< shorter ones, drawn beside points where there is room; "": not

  void add(double at, double value);
  /// A point with its error bar; an end that is not finite, as with a single batch, is left out.
  void add(double at, const Interval& interval);
};

/// A matrix of coloured cells. Cells reach half way to their neighbours (on a logarithmic axis, in the
/// logarithm).
struct HeatMap {
  std::vector<double> x;               ///< the columns' centres, increasing
  std::vector<double> y;               ///< the rows' centres, increasing
  std::vector<std::vector<double>> z;  ///< z[row][column]; not finite: left blank
  std::string z_label;
  bool log_z = false;  ///< colours by the logarithm; cells that are not positive are left blank
};

/// A coloured stretch of a timeline.
struct TraceBlock {
  double start = 0;
  double end = 0;
  std::string kind;  ///< "target run", "draft run"; one colour and one legend entry each
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

/// Curves and points; with `heat`, drawn over a heat map; with `trace`, a trace diagram instead.
struct Figure {
  std::string id;  ///< a letter, then letters, digits, '-' and '_'; unique on its page
  std::string title;
  std::string x_label;
  std::string y_label;
  bool log_x = false;
  bool log_y = false;
  /// Names at x = 0, 1, 2, ... of a categorical axis; empty: x is a number.
  std::vector<std::string> categories = {};
  std::optional<AxisRange> x_range = {};  ///< none: as the data asks
  std::optional<AxisRange> y_range = {};
  std::vector<Series> series = {};
  std::optional<HeatMap> heat = {};
  std::vector<TraceRow> trace = {};  ///< from top to bottom
  std::string caption = {};
  std::string command = {};  ///< what the reader types to draw it again

  /// Where a further category stands on the axis.
  double add_category(std::string name);
  /// Leaves out a series without points.
  void add(Series one);
};

/// std::invalid_argument when the figure contradicts itself (lengths, order, id) or shows nothing.
void check_figure(const Figure& figure);

/// A line of the legend.
struct LegendEntry {
  std::string name;
  std::size_t colour = 0;                ///< index of the palette (colours.hpp)
  std::string sample;                    ///< markup of 24 by 14 units, in the current colour
  std::vector<std::size_t> series = {};  ///< what it shows and hides, by its number in the drawing
};

/// A drawn figure with what stands around it.
struct Drawing {
  std::string id;
  std::string title;
  std::string caption;
  std::string command;
  int width = 0;  ///< of the plot, in units of its own: a page scales it
  int height = 0;
  std::string plot;  ///< what stands inside <svg>; colours are currentColor of groups of class "cK"
  std::vector<LegendEntry> legend = {};
  std::string data = {};  ///< JSON for the page's script: what stands where, and its values
};

/// Text is horizontal and large enough for a phone; series that coincide are dashed in turn or stand side by
/// side; of very many points or cells a part is drawn, and the caption says so. Throws as `check_figure`.
Drawing draw(const Figure& figure);

/// The drawing as a document of its own, with its legend below and without its title.
std::string svg_file(const Drawing& drawing);

}  // namespace speclab

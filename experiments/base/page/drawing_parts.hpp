// Parts that all kinds of drawings share: text, axes, markers, and the data that a page's script reads.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "experiments/base/page/axis.hpp"
#include "experiments/base/page/figure.hpp"

namespace speclab {

/// Sizes in units of a drawing. A phone shows them at about three quarters of this size, a wide page larger.
constexpr int drawing_width = 480;
constexpr double letter_width = 8.2;
constexpr double line_height = 17;

/// Returns the empty drawing of a figure. The plot ends at `bottom`; the horizontal axis' numbers and label
/// follow below.
Drawing unpainted(const Figure& figure, double bottom, const std::string& label);

/// Returns the approximate width of the text when it is drawn, in the drawing's units.
double drawn_width(std::string_view text);
/// Breaks the text at spaces into lines of at most `width`. Text beyond `most` lines is cut, with "…".
std::vector<std::string> wrapped(const std::string& text, double width, std::size_t most);

/// Returns markup for text at a place; `anchor` is start, middle or end.
std::string text_at(double x, double y, std::string_view anchor, std::string_view text);

/// Draw the frame's two axes with ticks, grid and labels. The vertical axis has its label above it, in lines
/// as wide as the drawing.
std::string axis_below(const Axis& axis, double top, double bottom, const std::string& label, bool whole);
std::string axis_left(const Axis& axis, double left, double right, bool whole);

/// Returns a marker: circle, square, triangle, inverted triangle or diamond. The shape follows from the
/// colour, for readers who cannot tell colours apart.
std::string marker_at(std::size_t colour, double x, double y, double radius);

/// Returns <g class="cK" color="..."> with the series' number and `content`.
std::string coloured_group(std::size_t colour, std::size_t series, std::string_view content);

/// Returns the legend of the series in drawing order. An unnamed series belongs to the entry of the series
/// whose colour it shares.
std::vector<LegendEntry> legend_of(const Figure& figure, const std::vector<std::size_t>& colours,
                                   const std::vector<std::string>& dashes);

/// Returns a JSON string that is safe inside <script>.
std::string json_text(std::string_view text);
/// Returns a JSON list of numbers; null stands for those that are not finite.
std::string json_list(const std::vector<double>& values);

/// The places of a series' points in the drawing.
struct Placed {
  std::vector<double> px;
  std::vector<double> py;
};
/// Returns the data of a drawing whose points are those of the figure's series.
std::string series_json(const Figure& figure, const std::vector<Placed>& places, std::string_view kind);

Drawing draw_plane(const Figure& figure);
/// Draws a figure with a categorical axis: a row for each name, with values to the right.
Drawing draw_rows(const Figure& figure);
Drawing draw_timelines(const Figure& figure);

/// The drawn cells of figure.heat, with the colour scale at the right: markup, and JSON for the script.
struct DrawnCells {
  std::string markup;
  std::string json;
};
DrawnCells draw_cells(const Figure& figure, const Axis& x, const Axis& y);
/// Returns the borders of a heat map's cells along an axis, the outermost included.
std::vector<double> cell_borders(const std::vector<double>& centres, bool logarithmic);
/// Returns the width of the scale of colours with its numbers.
double colour_scale_width(const HeatMap& heat);

}  // namespace speclab

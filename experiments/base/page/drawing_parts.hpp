// What drawings of all kinds share: text, axes, markers, and the data that a page's script reads.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "experiments/base/page/axis.hpp"
#include "experiments/base/page/figure.hpp"

namespace speclab {

/// Units of a drawing, which a phone shows at about three quarters of their size and a wide page larger.
constexpr int drawing_width = 480;
constexpr double letter_width = 8.2;
constexpr double line_height = 17;

/// The drawing of a figure before anything is drawn: the plot ends at `bottom`, above the horizontal axis'
/// numbers and label.
Drawing unpainted(const Figure& figure, double bottom, const std::string& label);

/// About as wide as the text is drawn.
double drawn_width(std::string_view text);
/// The text in lines of at most `width`, broken at spaces; what is beyond `most` lines is cut, with "…".
std::vector<std::string> wrapped(const std::string& text, double width, std::size_t most);

/// Text at a place: `anchor` is start, middle or end.
std::string text_at(double x, double y, std::string_view anchor, std::string_view text);

/// The frame's two axes with ticks, grid and labels. The vertical one has its label above it, in lines of the
/// drawing's width.
std::string axis_below(const Axis& axis, double top, double bottom, const std::string& label, bool whole);
std::string axis_left(const Axis& axis, double left, double right, bool whole);

/// Circle, square, triangle, triangle upside down, diamond: by colour, for those who cannot tell colours
/// apart.
std::string marker_at(std::size_t colour, double x, double y, double radius);

/// <g class="cK" color="..."> with the series' number, and what is in it.
std::string coloured_group(std::size_t colour, std::size_t series, std::string_view content);

/// The legend of series in drawing order: an unnamed series stands with the one whose colour it shares.
std::vector<LegendEntry> legend_of(const Figure& figure, const std::vector<std::size_t>& colours,
                                   const std::vector<std::string>& dashes);

/// A JSON string, safe inside <script>.
std::string json_text(std::string_view text);
/// A JSON list of numbers; null for those that are not finite.
std::string json_list(const std::vector<double>& values);

/// Where a series' points stand, and their values.
struct Placed {
  std::vector<double> px;
  std::vector<double> py;
};
/// The data of a drawing whose points are those of the figure's series.
std::string series_json(const Figure& figure, const std::vector<Placed>& places, std::string_view kind);

Drawing draw_plane(const Figure& figure);
/// Of a categorical axis: a row for each name, values to the right.
Drawing draw_rows(const Figure& figure);
Drawing draw_timelines(const Figure& figure);

/// The cells of figure.heat between the axes, with the scale of colours at the right: markup, and JSON for
/// the script. `right` is the plot's right edge.
struct DrawnCells {
  std::string markup;
  std::string json;
};
DrawnCells draw_cells(const Figure& figure, const Axis& x, const Axis& y);
/// The outer borders of a heat map's cells along an axis.
std::vector<double> cell_borders(const std::vector<double>& centres, bool logarithmic);
/// Of the scale of colours, with its numbers.
double colour_scale_width(const HeatMap& heat);

}  // namespace speclab

// Draws figures with a row for each name: categorical axes and timelines.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>

#include "experiments/base/page/colours.hpp"
#include "experiments/base/page/drawing_parts.hpp"
#include "experiments/base/page/page_text.hpp"

namespace speclab {

namespace {

constexpr double max_label_width = 180;
constexpr double row_top = 8;
constexpr double right_margin = 14;
constexpr double lane_height = 11;

double label_column(const std::vector<std::string>& labels) {
  double widest = 0;
  for (const std::string& label : labels) widest = std::max(widest, drawn_width(label));
  return std::min(widest, max_label_width) + 10;
}

std::string row_label(const std::string& label, double right, double middle) {
  const std::vector<std::string> lines = wrapped(label, max_label_width, 3);
  double y = middle + 5 - line_height * static_cast<double>(lines.size() - (lines.empty() ? 0 : 1)) / 2;
  std::string text;
  for (const std::string& line : lines) {
    text += text_at(right - 8, y, "end", line);
    y += line_height;
  }
  // The pointer shows the whole label if it was cut.
  return fmt::format("<g><title>{}</title>{}</g>", escape_markup(label), text);
}

double label_height(const std::string& label) {
  return line_height *
         static_cast<double>(std::max<std::size_t>(1, wrapped(label, max_label_width, 3).size()));
}

/// The lane of its row in which each point is drawn, so that no point hides another.
struct Lanes {
  std::vector<std::vector<std::size_t>> lane;  ///< by series, then by point
  std::vector<std::size_t> count;              ///< number of lanes, by row
};

Lanes lanes_of(const Figure& figure, const Axis& axis) {
  constexpr double half_marker = 6;
  Lanes lanes;
  lanes.count.assign(figure.categories.size(), 1);
  // Occupied intervals, by row and lane.
  std::map<std::pair<std::size_t, std::size_t>, std::vector<std::pair<double, double>>> taken;
  for (const Series& series : figure.series) {
    std::vector<std::size_t>& own = lanes.lane.emplace_back(series.x.size(), 0);
    if (series.style != SeriesStyle::points) continue;
    for (std::size_t i = 0; i < series.x.size(); ++i) {
      const auto row = static_cast<std::size_t>(series.x[i]);
      double from = axis.place(series.y[i]) - half_marker;
      double to = axis.place(series.y[i]) + half_marker;
      if (!series.low.empty()) {
        from = std::min(from, axis.place(series.low[i]));
        to = std::max(to, axis.place(series.high[i]));
      }
      std::size_t lane = 0;
      const auto busy = [&](const auto& other) { return from < other.second && other.first < to; };
      while (std::any_of(taken[{row, lane}].begin(), taken[{row, lane}].end(), busy)) ++lane;
      taken[{row, lane}].emplace_back(from, to);
      own[i] = lane;
      lanes.count[row] = std::max(lanes.count[row], lane + 1);
    }
  }
  return lanes;
}

std::string bar_across(double from, double to, double y) {
  if (!std::isfinite(from) || !std::isfinite(to) || to - from < 1) return "";
  return fmt::format("M{0:.1f} {2:.1f}H{1:.1f}M{0:.1f} {3:.1f}v6M{1:.1f} {3:.1f}v6", from, to, y, y - 3);
}

}  // namespace

Drawing draw_rows(const Figure& figure) {
  Axis axis;
  axis.logarithmic = figure.log_y;
  std::vector<double> values;
  for (const Series& series : figure.series) {
    for (const auto* more : {&series.y, &series.low, &series.high})
      values.insert(values.end(), more->begin(), more->end());
  }
  axis.range = figure.y_range.value_or(range_of(values, figure.log_y));
  axis.from = label_column(figure.categories);
  axis.to = drawing_width - right_margin;
  const Lanes lanes = lanes_of(figure, axis);
  std::vector<double> tops{row_top};
  std::string labels;
  for (std::size_t row = 0; row < figure.categories.size(); ++row) {
    const double height = std::max(label_height(figure.categories[row]) + 7,
                                   lane_height * static_cast<double>(lanes.count[row]) + 9);
    labels += row_label(figure.categories[row], axis.from, tops.back() + height / 2);
    tops.push_back(tops.back() + height);
  }
  const double bottom = tops.back();
  Drawing drawing = unpainted(figure, bottom, figure.y_label);
  drawing.plot = axis_below(axis, row_top, bottom, figure.y_label, false);
  for (std::size_t row = 1; row < figure.categories.size(); ++row)
    drawing.plot += fmt::format(
        "<path class=\"grid\" stroke=\"#dddddd\" stroke-dasharray=\"2 3\" d=\"M0 {:.1f}H{:.1f}\"/>",
        tops[row], axis.to);
  drawing.plot += labels;
  const std::vector<std::size_t> colours = series_colours(figure);
  std::vector<Placed> places;
  for (std::size_t s = 0; s < figure.series.size(); ++s) {
    const Series& series = figure.series[s];
    Placed& placed = places.emplace_back();
    std::string bars;
    std::string marks;
    for (std::size_t i = 0; i < series.x.size(); ++i) {
      const auto row = static_cast<std::size_t>(series.x[i]);
      const double middle = (tops[row] + tops[row + 1]) / 2;
      const double y = middle + lane_height * (static_cast<double>(lanes.lane[s][i]) -
                                               static_cast<double>(lanes.count[row] - 1) / 2);
      const double x = axis.place(series.y[i]);
      placed.px.push_back(x);
      placed.py.push_back(series.style == SeriesStyle::points ? y : middle);
      if (!std::isfinite(x) || x < axis.from - 1 || x > axis.to + 1) continue;
      if (series.style != SeriesStyle::points) {
        bars += fmt::format("M{:.1f} {:.1f}V{:.1f}", x, tops[row] + 3, tops[row + 1] - 3);
        continue;
      }
      if (!series.low.empty()) {
        bars += bar_across(std::max(axis.place(series.low[i]), axis.from),
                           std::min(axis.place(series.high[i]), axis.to), y);
      }
      marks += marker_at(colours[s], x, y, 4.2);
    }
    drawing.plot += coloured_group(
        colours[s], s,
        fmt::format(
            "<path fill=\"none\" stroke=\"currentColor\" stroke-width=\"{}\" d=\"{}\"/><g class=\"marks\" "
            "fill=\"currentColor\" stroke=\"#ffffff\">{}</g>",
            series.style == SeriesStyle::points ? 1.4 : 2.5, bars, marks));
  }
  drawing.legend = legend_of(figure, colours, std::vector<std::string>(figure.series.size()));
  drawing.data = series_json(figure, places, "rows") + "}";
  return drawing;
}

Drawing draw_timelines(const Figure& figure) {
  constexpr double row_gap = 8;
  constexpr double block_height = 20;
  std::vector<std::string> labels;
  std::vector<std::string> kinds;
  double end = 0;
  for (const TraceRow& row : figure.trace) {
    labels.push_back(row.label);
    for (const TraceBlock& block : row.blocks) {
      end = std::max(end, block.end);
      if (std::find(kinds.begin(), kinds.end(), block.kind) == kinds.end()) kinds.push_back(block.kind);
    }
  }
  Axis axis;
  axis.range = figure.x_range.value_or(AxisRange{0, end > 0 ? end : 1});
  axis.from = label_column(labels);
  axis.to = drawing_width - right_margin;
  std::vector<double> tops{row_top};
  for (const std::string& label : labels)
    tops.push_back(tops.back() + std::max(block_height, label_height(label)) + row_gap);
  Drawing drawing = unpainted(figure, tops.back(), figure.x_label);
  drawing.plot = axis_below(axis, row_top, tops.back(), figure.x_label, false);
  for (std::size_t row = 0; row < labels.size(); ++row)
    drawing.plot += row_label(labels[row], axis.from, (tops[row] + tops[row + 1]) / 2);
  const std::vector<std::size_t> colours = colours_of(kinds, false);
  // For the page's script, each kind is a series whose points are the centres of its blocks.
  Figure blocks = figure;
  std::vector<Placed> places;
  for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
    Series series{.name = kinds[kind], .style = SeriesStyle::points};
    Placed& placed = places.emplace_back();
    std::string marks;
    for (std::size_t row = 0; row < figure.trace.size(); ++row) {
      const double y = (tops[row] + tops[row + 1] - block_height) / 2;
      for (const TraceBlock& block : figure.trace[row].blocks) {
        if (block.kind != kinds[kind]) continue;
        const double from = std::clamp(axis.place(block.start), axis.from, axis.to);
        const double to = std::clamp(axis.place(block.end), axis.from, axis.to);
        marks += fmt::format("<rect x=\"{:.2f}\" y=\"{:.1f}\" width=\"{:.2f}\" height=\"{}\"/>", from, y,
                             std::max(to - from, 0.3), block_height);
        series.add(static_cast<double>(row), Interval{block.end - block.start, block.start, block.end});
        placed.px.push_back((from + to) / 2);
        placed.py.push_back(y + block_height / 2);
      }
    }
    drawing.plot += coloured_group(
        colours[kind], kind,
        fmt::format(
            "<g class=\"blocks\" fill=\"currentColor\" stroke=\"#ffffff\" stroke-width=\"0.6\">{}</g>",
            marks));
    drawing.legend.push_back(
        {kinds[kind], colours[kind], "<path d=\"M2 1h20v12h-20z\" fill=\"currentColor\"/>", {kind}});
    blocks.series.push_back(std::move(series));
  }
  blocks.categories = labels;
  drawing.data = series_json(blocks, places, "timelines") + "}";
  return drawing;
}

}  // namespace speclab

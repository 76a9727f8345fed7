// Draws curves, points, bands and cells over two numeric axes.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include "core/stop.hpp"
#include "experiments/base/page/colours.hpp"
#include "experiments/base/page/drawing_parts.hpp"
#include "experiments/base/page/page_text.hpp"

namespace speclab {

namespace {

constexpr double plot_height = 235;
constexpr double tick_gap = 12;

struct Frame {
  Axis x;
  Axis y;
};

void gather(std::vector<double>& all, const std::vector<double>& more) {
  all.insert(all.end(), more.begin(), more.end());
}

bool all_whole(const std::vector<double>& values) {
  return std::ranges::all_of(
      values, [](double value) { return !std::isfinite(value) || value == std::floor(value); });
}

double widest_tick(const Axis& axis, bool whole) {
  double most = 0;
  for (const double value : ticks_of(axis, 7, whole)) most = std::max(most, drawn_width(tick_text(value)));
  return most;
}

std::vector<Placed> places_of(const Figure& figure, const Frame& frame) {
  std::vector<Placed> places;
  for (const Series& series : figure.series) {
    end_if_stopped();
    Placed& placed = places.emplace_back();
    for (std::size_t i = 0; i < series.x.size(); ++i) {
      placed.px.push_back(frame.x.place(series.x[i]));
      placed.py.push_back(frame.y.place(series.y[i]));
    }
  }
  return places;
}

bool joined(const Series& series) {
  return series.style == SeriesStyle::line || series.style == SeriesStyle::steps;
}

/// Returns true if two lines coincide for most of their length.
bool coincide(const Placed& a, const Placed& b) {
  constexpr double near = 1.5;
  constexpr double most = 0.6;
  if (a.px.size() != b.px.size() || a.px.empty()) return false;
  double together = 0;
  for (std::size_t i = 0; i < a.px.size(); ++i) {
    if (std::abs(a.px[i] - b.px[i]) < near && std::abs(a.py[i] - b.py[i]) < near) ++together;
  }
  return together > most * static_cast<double>(a.px.size());
}

/// Returns for each series a dash pattern that leaves gaps for the lines with which it coincides; empty for
/// an unbroken line.
std::vector<std::string> dashes_of(const Figure& figure, const std::vector<Placed>& places) {
  const std::size_t n = figure.series.size();
  std::vector<std::size_t> first(n);
  std::iota(first.begin(), first.end(), std::size_t{0});
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < i && first[i] == i; ++j) {
      if (joined(figure.series[i]) && joined(figure.series[j]) && coincide(places[i], places[j]))
        first[i] = first[j];
    }
  }
  std::vector<std::string> dashes(n);
  for (std::size_t i = 0; i < n; ++i) {
    const auto size = std::ranges::count(first, first[i]);
    if (size < 2) continue;
    constexpr int dash = 8;
    const auto turn = std::count(first.begin(), first.begin() + static_cast<std::ptrdiff_t>(i), first[i]);
    dashes[i] = fmt::format(" stroke-dasharray=\"{} {}\" stroke-dashoffset=\"{}\"", dash, dash * (size - 1),
                            dash * (size - turn));
  }
  return dashes;
}

/// Moves points of different series that hide one another side by side. Returns true if it moved any.
bool part_points(const Figure& figure, std::vector<Placed>& places) {
  constexpr double near = 5;
  constexpr double widest_step = 7;
  // Moved points stay nearer to their own category than to the next one.
  constexpr double share = 0.7;
  struct At {
    double x, y;
    std::size_t series, point;
  };
  std::vector<At> all;
  for (std::size_t s = 0; s < figure.series.size(); ++s) {
    if (figure.series[s].style != SeriesStyle::points) continue;
    for (std::size_t i = 0; i < places[s].px.size(); ++i) {
      if (std::isfinite(places[s].px[i]) && std::isfinite(places[s].py[i]))
        all.push_back({places[s].px[i], places[s].py[i], s, i});
    }
  }
  std::ranges::sort(all, [](const At& a, const At& b) {
    return std::tie(a.x, a.y, a.series) < std::tie(b.x, b.y, b.series);
  });
  double spacing = INFINITY;
  for (std::size_t i = 1; i < all.size(); ++i) {
    if (all[i].x - all[i - 1].x > 1) spacing = std::min(spacing, all[i].x - all[i - 1].x);
  }
  bool moved = false;
  for (std::size_t begin = 0; begin < all.size();) {
    std::size_t end = begin + 1;
    while (end < all.size() && all[end].x - all[begin].x < 1 && all[end].y - all[end - 1].y < near) ++end;
    std::sort(all.begin() + static_cast<std::ptrdiff_t>(begin),
              all.begin() + static_cast<std::ptrdiff_t>(end),
              [](const At& a, const At& b) { return a.series < b.series; });
    const std::size_t size = end - begin;
    const double step = std::min(widest_step, share * spacing / static_cast<double>(size));
    for (std::size_t k = 0; size > 1 && k < size; ++k) {
      places[all[begin + k].series].px[all[begin + k].point] +=
          step * (static_cast<double>(k) - static_cast<double>(size - 1) / 2);
      moved = true;
    }
    begin = end;
  }
  return moved;
}

std::string path_of(const Series& series, const Placed& placed) {
  std::string path;
  bool drawing = false;
  for (std::size_t i = 0; i < placed.px.size(); ++i) {
    if (!std::isfinite(placed.py[i]) || !std::isfinite(placed.px[i])) {
      drawing = false;
      continue;
    }
    if (drawing && series.style == SeriesStyle::steps) path += fmt::format("H{:.1f}", placed.px[i]);
    path += fmt::format("{}{:.1f} {:.1f}", drawing ? "L" : "M", placed.px[i], placed.py[i]);
    drawing = true;
  }
  return path;
}

std::string band_of(const Series& series, const Placed& placed, const Axis& y) {
  std::string there;
  std::string back;
  for (std::size_t i = 0; i < series.low.size(); ++i) {
    const double x = placed.px[i];
    const double top = y.place(series.high[i]);
    // A logarithmic axis cannot show 0 or less: such a band ends at the axis.
    const double bottom = y.place(y.logarithmic ? std::max(series.low[i], y.range.low) : series.low[i]);
    if (!std::isfinite(x) || !std::isfinite(top) || !std::isfinite(bottom)) continue;
    there += fmt::format("{}{:.1f} {:.1f}", there.empty() ? "M" : "L", x, top);
    back = fmt::format("L{:.1f} {:.1f}", x, bottom) + back;
  }
  return there.empty()
             ? ""
             : fmt::format("<path fill=\"currentColor\" fill-opacity=\"0.2\" d=\"{}{}z\"/>", there, back);
}

std::string bars_of(const Series& series, const Placed& placed, const Frame& frame) {
  constexpr double half_cap = 3;
  std::string bars;
  for (std::size_t i = 0; i < series.low.size(); ++i) {
    const double top = frame.y.place(series.high[i]);
    const double bottom = frame.y.place(series.low[i]);
    if (!std::isfinite(placed.px[i]) || !std::isfinite(top) || !std::isfinite(bottom) || bottom - top < 1)
      continue;
    bars += fmt::format("M{0:.1f} {1:.1f}V{2:.1f}M{3:.1f} {1:.1f}h{4}M{3:.1f} {2:.1f}h{4}", placed.px[i], top,
                        bottom, placed.px[i] - half_cap, 2 * half_cap);
  }
  return bars.empty()
             ? ""
             : fmt::format("<path fill=\"none\" stroke=\"currentColor\" stroke-width=\"1.4\" d=\"{}\"/>",
                           bars);
}

std::string markers_of(const Series& series, const Placed& placed, std::size_t colour, const Frame& frame) {
  constexpr std::size_t many = 60;
  const double radius = placed.px.size() > many ? 2.6 : 4.2;
  std::string markers;
  for (std::size_t i = 0; i < placed.px.size(); ++i) {
    const bool inside = placed.py[i] >= frame.y.to - 1 && placed.py[i] <= frame.y.from + 1;
    if (!inside || !std::isfinite(placed.px[i])) continue;
    const std::string marker = marker_at(colour, placed.px[i], placed.py[i], radius);
    // Browsers show the title under the pointer, even without the page's script.
    markers += series.names.empty()
                   ? marker
                   : fmt::format("<g><title>{}</title>{}</g>", escape_markup(series.names[i]), marker);
  }
  return fmt::format("<g class=\"marks\" fill=\"currentColor\" stroke=\"#ffffff\">{}</g>", markers);
}

struct Extent {
  double left, right, top, bottom;
  bool meets(const Extent& other) const {
    return left < other.right && other.left < right && top < other.bottom && other.top < bottom;
  }
};

/// Draws the labels of points at the right or left, above or below, where there is room; other labels are
/// left out.
std::string labels_of(const Figure& figure, const std::vector<Placed>& places, const Frame& frame) {
  constexpr double gap = 8;
  constexpr double ascent = 11;
  constexpr double descent = 4;
  std::vector<Extent> taken;
  for (std::size_t s = 0; s < figure.series.size(); ++s) {
    if (figure.series[s].style != SeriesStyle::points) continue;
    for (std::size_t i = 0; i < places[s].px.size(); ++i) {
      const double x = places[s].px[i];
      const double y = places[s].py[i];
      if (std::isfinite(x) && std::isfinite(y)) taken.push_back({x - 5, x + 5, y - 5, y + 5});
    }
  }
  std::string texts;
  for (std::size_t s = 0; s < figure.series.size(); ++s) {
    for (std::size_t i = 0; i < figure.series[s].labels.size(); ++i) {
      const std::string& label = figure.series[s].labels[i];
      const double x = places[s].px[i];
      const double y = places[s].py[i];
      if (label.empty() || !std::isfinite(x) || !std::isfinite(y)) continue;
      const double width = drawn_width(label);
      struct Try {
        const char* anchor;
        double x, y, left;
      };
      const double above = y - gap;
      const double below = y + gap + ascent;
      for (const Try& place :
           {Try{"start", x + gap, y + 5, x + gap}, Try{"end", x - gap, y + 5, x - gap - width},
            Try{"middle", x, above, x - width / 2}, Try{"middle", x, below, x - width / 2},
            Try{"start", x, above, x}, Try{"end", x, above, x - width}, Try{"start", x, below, x},
            Try{"end", x, below, x - width}}) {
        const Extent extent{place.left, place.left + width, place.y - ascent, place.y + descent};
        const bool inside = extent.left >= frame.x.from && extent.right <= frame.x.to + tick_gap &&
                            extent.top >= frame.y.to && extent.bottom <= frame.y.from;
        if (!inside || std::ranges::any_of(taken, [&](const Extent& other) { return extent.meets(other); }))
          continue;
        taken.push_back(extent);
        texts += text_at(place.x, place.y, place.anchor, label);
        break;
      }
    }
  }
  return texts;
}

Frame frame_of(const Figure& figure, double top) {
  std::vector<double> xs;
  std::vector<double> ys;
  for (const Series& series : figure.series) {
    gather(xs, series.x);
    for (const auto* values : {&series.y, &series.low, &series.high}) gather(ys, *values);
  }
  Frame frame;
  frame.x.logarithmic = figure.log_x;
  frame.y.logarithmic = figure.log_y;
  double beside = tick_gap;
  if (figure.heat) {
    const auto x = cell_borders(figure.heat->x, figure.log_x);
    const auto y = cell_borders(figure.heat->y, figure.log_y);
    frame.x.range = figure.x_range.value_or(AxisRange{x.front(), x.back()});
    frame.y.range = figure.y_range.value_or(AxisRange{y.front(), y.back()});
    beside = colour_scale_width(*figure.heat);
    // With few cells, ticks are at their values; with many, the axis is treated as continuous.
    constexpr std::size_t few = 24;
    if (figure.heat->x.size() <= few) frame.x.values = figure.heat->x;
    if (figure.heat->y.size() <= few) frame.y.values = figure.heat->y;
  } else {
    frame.x.range = figure.x_range.value_or(range_of(xs, figure.log_x));
    frame.y.range = figure.y_range.value_or(range_of(ys, figure.log_y));
  }
  frame.y.from = top + plot_height;
  frame.y.to = top;
  frame.x.from = std::max(30.0, widest_tick(frame.y, all_whole(ys) && !figure.heat) + tick_gap);
  frame.x.to = drawing_width - beside;
  return frame;
}

}  // namespace

Drawing draw_plane(const Figure& figure) {
  const std::vector<std::string> above = wrapped(figure.y_label, drawing_width - letter_width, 3);
  std::vector<std::string> scale;
  if (figure.heat) scale = wrapped(figure.heat->z_label, drawing_width - letter_width, 2);
  const double top = 10 + line_height * static_cast<double>(above.size() + scale.size());
  const Frame frame = frame_of(figure, top);
  const std::vector<std::size_t> colours = series_colours(figure);
  std::vector<Placed> places = places_of(figure, frame);
  const std::vector<std::string> dashes = dashes_of(figure, places);
  const bool parted = part_points(figure, places);

  const double bottom = frame.y.from;
  Drawing drawing = unpainted(figure, bottom, figure.x_label);
  std::vector<double> xs;
  std::vector<double> ys;
  for (const Series& series : figure.series) gather(xs, series.x), gather(ys, series.y);
  const bool whole_x = !figure.heat && all_whole(xs);
  const bool whole_y = !figure.heat && all_whole(ys);
  DrawnCells heat;
  if (figure.heat) heat = draw_cells(figure, frame.x, frame.y);
  // There is no grid over cells.
  std::string cells = heat.markup +
                      axis_left(frame.y, frame.x.from, figure.heat ? frame.x.from : frame.x.to, whole_y) +
                      axis_below(frame.x, figure.heat ? bottom : top, bottom, figure.x_label, whole_x);
  double line = 14;
  for (const std::string& text : above) {
    cells += text_at(2, line, "start", text);
    line += line_height;
  }
  for (const std::string& text : scale) {
    cells += text_at(drawing_width - 2, line, "end", text);
    line += line_height;
  }
  drawing.plot = fmt::format(
      "<clipPath id=\"{}-clip\"><rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" "
      "height=\"{:.1f}\"/></clipPath>\n{}\n",
      figure.id, frame.x.from, top - 2, frame.x.to - frame.x.from + 2, bottom - top + 4, cells);
  for (std::size_t i = 0; i < figure.series.size(); ++i) {
    const Series& series = figure.series[i];
    std::string clipped;
    std::string free;
    if (joined(series)) {
      clipped = band_of(series, places[i], frame.y);
      clipped += fmt::format(
          "<path class=\"curve\" fill=\"none\" stroke=\"currentColor\" stroke-width=\"2.2\"{} d=\"{}\"/>",
          dashes[i], path_of(series, places[i]));
    } else {
      clipped = bars_of(series, places[i], frame);
      free = markers_of(series, places[i], colours[i], frame);
    }
    drawing.plot += coloured_group(
        colours[i], i, fmt::format("<g clip-path=\"url(#{}-clip)\">{}</g>{}", figure.id, clipped, free));
  }
  drawing.plot += labels_of(figure, places, frame);
  drawing.legend = legend_of(figure, colours, dashes);
  drawing.data =
      series_json(figure, places, "plane") + (heat.json.empty() ? "" : ",\"cells\":" + heat.json) + "}";
  const bool dashed = std::ranges::any_of(dashes, [](const auto& dash) { return !dash.empty(); });
  if (dashed) drawing.caption += " Lines that coincide are dashed in turn.";
  if (parted) drawing.caption += " Points that coincide stand side by side.";
  return drawing;
}

}  // namespace speclab

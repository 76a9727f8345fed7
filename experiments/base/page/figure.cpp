#include "experiments/base/page/figure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string_view>

#include "experiments/base/page/drawing_parts.hpp"
#include "experiments/base/page/page_text.hpp"

namespace speclab {
namespace {

void require(bool holds, const Figure& figure, std::string_view what) {
  if (!holds) throw std::invalid_argument(fmt::format("figure '{}': {}", figure.id, what));
}

bool strictly_increasing(const std::vector<double>& values) {
  return std::ranges::all_of(values, [](double value) { return std::isfinite(value); }) &&
         std::ranges::adjacent_find(values, std::greater_equal<>()) == values.end();
}

void check_series(const Figure& figure) {
  for (std::size_t i = 0; i < figure.series.size(); ++i) {
    const Series& series = figure.series[i];
    const std::size_t n = series.x.size();
    require(series.y.size() == n, figure, "a series has as many y as x");
    require(series.names.empty() || series.names.size() == n, figure, "all points have names, or none");
    require(series.labels.empty() || series.labels.size() == n, figure,
            "a label a point, which may be empty");
    require(series.low.size() == series.high.size(), figure, "error bars have two ends");
    require(series.low.empty() || series.low.size() == n, figure, "all points have error bars, or none");
    require(series.low.empty() || series.style == SeriesStyle::points || series.style == SeriesStyle::line,
            figure, "only points have error bars, and lines a band");
    require(!series.colour_of || *series.colour_of < i, figure, "colour_of names an earlier series");
  }
}

void check_categories(const Figure& figure) {
  if (figure.categories.empty()) {
    const auto levels = [](const Series& series) { return series.style == SeriesStyle::levels; };
    require(std::ranges::none_of(figure.series, levels), figure, "levels need a categorical axis");
    return;
  }
  require(!figure.log_x && !figure.x_range && !figure.heat, figure, "a categorical axis is its own range");
  const auto joined = [](const Series& series) {
    return series.style == SeriesStyle::line || series.style == SeriesStyle::steps;
  };
  require(std::ranges::none_of(figure.series, joined), figure,
          "names have no order that a line could follow");
  const auto last = static_cast<double>(figure.categories.size()) - 1;
  for (const Series& series : figure.series) {
    const bool inside = std::ranges::all_of(series.x, [last](double x) { return x >= 0 && x <= last; });
    require(inside, figure, "x is the number of a category");
  }
}

void check_heat(const Figure& figure, const HeatMap& heat) {
  require(!heat.x.empty() && !heat.y.empty(), figure, "a heat map has cells");
  require(strictly_increasing(heat.x) && strictly_increasing(heat.y), figure, "a heat map's axes increase");
  require(!figure.log_x || heat.x.front() > 0, figure, "a logarithmic axis is positive");
  require(!figure.log_y || heat.y.front() > 0, figure, "a logarithmic axis is positive");
  require(heat.z.size() == heat.y.size(), figure, "a heat map has a row of z per y");
  for (const auto& row : heat.z) require(row.size() == heat.x.size(), figure, "a heat map has a z per x");
}

/// Maximum number of drawn points of a series and cells along an axis: a screen cannot resolve more.
constexpr std::size_t max_points = 500;
constexpr std::size_t max_cells = 160;

template <class T>
void keep_every(std::vector<T>& values, std::size_t stride) {
  for (std::size_t i = 0; i * stride < values.size(); ++i) values[i] = values[i * stride];
  values.resize((values.size() + stride - 1) / stride);
}

std::size_t stride_for(std::size_t size, std::size_t most) { return (size + most - 1) / most; }

/// Returns the figure with at most max_points points per series and cells per axis; its caption says what was
/// left out.
Figure thinned(Figure figure) {
  std::size_t most = 0;
  for (Series& series : figure.series) {
    const std::size_t stride = stride_for(series.x.size(), max_points);
    most = std::max(most, stride);
    if (stride < 2) continue;
    for (auto* values : {&series.x, &series.y, &series.low, &series.high}) keep_every(*values, stride);
    for (auto* texts : {&series.names, &series.labels}) keep_every(*texts, stride);
  }
  if (most > 1) figure.caption += fmt::format(" Of long series one point in {} is drawn.", most);
  if (!figure.heat) return figure;
  HeatMap& heat = *figure.heat;
  const std::size_t rows = std::max<std::size_t>(1, stride_for(heat.y.size(), max_cells));
  const std::size_t columns = std::max<std::size_t>(1, stride_for(heat.x.size(), max_cells));
  if (rows * columns == 1) return figure;
  keep_every(heat.y, rows);
  keep_every(heat.z, rows);
  keep_every(heat.x, columns);
  for (auto& row : heat.z) keep_every(row, columns);
  figure.caption += fmt::format(" One cell in {} is drawn.", rows * columns);
  return figure;
}

}  // namespace

void Series::add(double at, double value) {
  x.push_back(at);
  y.push_back(value);
}

void Series::add(double at, const Interval& interval) {
  const auto [estimate, least, most] = interval;
  add(at, estimate);
  low.push_back(std::isfinite(least) ? least : estimate);
  high.push_back(std::isfinite(most) ? most : estimate);
}

double Figure::add_category(std::string name) {
  categories.push_back(std::move(name));
  return static_cast<double>(categories.size() - 1);
}

void Figure::add(Series one) {
  if (!one.x.empty()) series.push_back(std::move(one));
}

void check_figure(const Figure& figure) {
  require(is_markup_id(figure.id), figure, "an id is a letter, then letters, digits, '-' and '_'");
  if (!figure.trace.empty()) {
    require(figure.series.empty() && !figure.heat, figure, "a trace diagram has no series and no heat map");
    const auto timed = [](const TraceBlock& block) {
      return std::isfinite(block.start) && std::isfinite(block.end);
    };
    for (const TraceRow& row : figure.trace)
      require(std::ranges::all_of(row.blocks, timed), figure, "blocks of a trace begin and end");
    const auto bare = [](const TraceRow& row) { return row.blocks.empty(); };
    require(!std::ranges::all_of(figure.trace, bare), figure, "a trace diagram has blocks");
    return;
  }
  check_series(figure);
  check_categories(figure);
  if (figure.heat) return check_heat(figure, *figure.heat);
  const auto empty = [](const Series& series) { return series.x.empty(); };
  require(!std::ranges::all_of(figure.series, empty), figure, "there is nothing to draw");
}

Drawing draw(const Figure& figure) {
  check_figure(figure);
  const Figure seen = thinned(figure);
  return !seen.trace.empty()        ? draw_timelines(seen)
         : !seen.categories.empty() ? draw_rows(seen)
                                    : draw_plane(seen);
}

std::string svg_file(const Drawing& drawing) {
  constexpr double row = 20;
  std::string legend;
  double x = 8;
  double y = drawing.height + 4;
  for (const LegendEntry& entry : drawing.legend) {
    const double width = 32 + drawn_width(entry.name) + 12;
    if (x > 8 && x + width > drawing.width) {
      x = 8;
      y += row;
    }
    legend +=
        coloured_group(entry.colour, entry.series.front(),
                       fmt::format("<g transform=\"translate({:.1f},{:.1f})\" fill=\"currentColor\">{}</g>",
                                   x, y, entry.sample));
    legend += text_at(x + 30, y + 12, "start", entry.name);
    x += width;
  }
  const double height = drawing.legend.empty() ? drawing.height : y + row + 4;
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1:.0f}\" width=\"{0}\" "
      "height=\"{1:.0f}\" role=\"img\" "
      "aria-label=\"{2}\" font-family=\"sans-serif\" font-size=\"14\" fill=\"#1b1b1b\">\n<rect width=\"{0}\" "
      "height=\"{1:.0f}\" fill=\"#ffffff\"/>\n{3}{4}</svg>\n",
      drawing.width, height, escape_markup(drawing.title), drawing.plot, legend);
}

}  // namespace speclab

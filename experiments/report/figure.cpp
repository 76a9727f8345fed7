#include "experiments/report/figure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <stdexcept>
#include <string_view>

#include "experiments/report/gnuplot.hpp"
#include "experiments/report/gnuplot_script.hpp"
#include "experiments/report/markup.hpp"
#include "experiments/report/svg.hpp"

namespace speclab {
namespace {

void require(bool holds, const Figure& figure, std::string_view what) {
  if (!holds) throw std::invalid_argument(fmt::format("figure '{}': {}", figure.id, what));
}

bool strictly_increasing(const std::vector<double>& values) {
  return std::adjacent_find(values.begin(), values.end(), std::greater_equal<>()) == values.end();
}

void check_series(const Figure& figure) {
  for (std::size_t i = 0; i < figure.series.size(); ++i) {
    const Series& series = figure.series[i];
    const std::size_t n = series.x.size();
    require(series.y.size() == n, figure, "a series has as many y as x");
    require(series.low.size() == series.high.size(), figure, "error bars have two ends");
    require(series.low.empty() || series.low.size() == n, figure, "all points have error bars, or none");
    require(series.low.empty() || series.style == SeriesStyle::points, figure, "only points have error bars");
    require(!series.colour_of || *series.colour_of < i, figure, "colour_of names an earlier series");
  }
}

void check_categories(const Figure& figure) {
  if (figure.categories.empty()) {
    const auto levels = [](const Series& series) { return series.style == SeriesStyle::levels; };
    require(std::none_of(figure.series.begin(), figure.series.end(), levels), figure,
            "levels need a categorical axis");
    return;
  }
  require(!figure.log_x && !figure.x_range && !figure.heat, figure, "a categorical axis is its own range");
  const auto last = static_cast<double>(figure.categories.size()) - 1;
  for (const Series& series : figure.series) {
    const bool inside =
        std::all_of(series.x.begin(), series.x.end(), [last](double x) { return x >= 0 && x <= last; });
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

void check(const Figure& figure) {
  require(is_markup_id(figure.id), figure, "an id is a letter, then letters, digits, '-' and '_'");
  if (!figure.trace.empty()) {
    require(figure.series.empty() && !figure.heat, figure, "a trace diagram has no series and no heat map");
    const auto bare = [](const TraceRow& row) { return row.blocks.empty(); };
    require(!std::all_of(figure.trace.begin(), figure.trace.end(), bare), figure,
            "a trace diagram has blocks");
    return;
  }
  check_series(figure);
  check_categories(figure);
  if (figure.heat) return check_heat(figure, *figure.heat);
  const auto empty = [](const Series& series) { return series.x.empty(); };
  require(!std::all_of(figure.series.begin(), figure.series.end(), empty), figure,
          "there is nothing to draw");
}

}  // namespace

std::string draw_svg(const Figure& figure) {
  check(figure);
  return inline_svg(run_gnuplot(gnuplot_script(figure)), figure.id + "-", figure.title);
}

Drawing draw(const Figure& figure) { return {figure.id, draw_svg(figure), figure.caption, figure.command}; }

}  // namespace speclab

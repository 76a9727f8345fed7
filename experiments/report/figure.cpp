#include "experiments/report/figure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string_view>

#include "experiments/report/gnuplot_script.hpp"
#include "experiments/report/markup.hpp"
#include "experiments/support/child_process.hpp"

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

/// What gnuplot writes to standard output, given a script and its default settings. std::runtime_error when
/// it is missing (it says what to install) or refuses the script (it says why).
std::string run_gnuplot(const std::string& script) {
  // gnuplot reads its standard input a byte at a time, and a script that it is given by name through a
  // buffer: a heat map of 10,000 cells draws three times as fast under the name /dev/stdin.
  std::optional<Finished> gnuplot;
  try {
    gnuplot = run_child_process({"gnuplot", "--default-settings", "/dev/stdin"}, script);
  } catch (const std::runtime_error& error) {
    throw std::runtime_error(fmt::format("cannot draw: {}", error.what()));
  }
  if (!gnuplot) {
    throw std::runtime_error("cannot draw: gnuplot is not installed (on Debian: apt install gnuplot-nox)");
  }
  if (gnuplot->status != 0) {
    throw std::runtime_error(fmt::format("cannot draw: gnuplot failed:\n{}", gnuplot->err));
  }
  return gnuplot->out;
}

// What precedes an id or a reference to one inside a tag, as gnuplot writes them.
constexpr std::array<std::string_view, 5> before_id = {" id='", " id=\"", "href='#", "href=\"#", "url(#"};

void append_tag(std::string& out, std::string_view tag, std::string_view prefix) {
  for (std::size_t at = 0; at < tag.size();) {
    std::string_view found;
    for (const std::string_view mark : before_id) {
      if (tag.substr(at).starts_with(mark)) found = mark;
    }
    if (found.empty()) {
      out += tag[at++];
    } else {
      out.append(found).append(prefix);
      at += found.size();
    }
  }
}

// The text after the element that opens at `rest`, when it is one to drop; else `rest`.
std::string_view after_dropped(std::string_view rest) {
  for (const std::string_view name : {"title", "desc"}) {
    if (!rest.starts_with(fmt::format("<{}>", name))) continue;
    const std::string close = fmt::format("</{}>", name);
    const std::size_t end = rest.find(close);
    if (end != std::string_view::npos) return rest.substr(end + close.size());
  }
  return rest;
}

/// gnuplot writes > as it stands, and the three characters ]]> may not stand in the text of XML.
void append_text(std::string& out, std::string_view text) {
  constexpr std::string_view forbidden = "]]>";
  for (std::size_t at = text.find(forbidden); at != std::string_view::npos; at = text.find(forbidden)) {
    out.append(text.substr(0, at)).append("]]&gt;");
    text.remove_prefix(at + forbidden.size());
  }
  out.append(text);
}

/// The <svg> element of a document that gnuplot wrote, fitted for a page that holds several: every id, and
/// every reference to one, gets `prefix` in front, since gnuplot gives all its drawings the same ids;
/// gnuplot's own titles, which browsers show as tooltips, make way for `label`, which screen readers speak.
std::string inline_svg(std::string_view document, std::string_view prefix, std::string_view label) {
  constexpr std::string_view opening = "<svg";
  const std::size_t begin = document.find(opening);
  const std::size_t close = document.rfind("</svg>");
  if (begin == std::string_view::npos || close == std::string_view::npos || close < begin) {
    throw std::runtime_error("cannot draw: gnuplot wrote no SVG");
  }
  std::string_view rest = document.substr(begin, close - begin);
  rest.remove_prefix(opening.size());
  std::string out = fmt::format("<svg role=\"img\" aria-label=\"{}\"", escape_markup(label));
  const std::size_t opened = rest.find('>') + 1;
  out.append(rest.substr(0, opened));
  rest.remove_prefix(opened);
  while (!rest.empty()) {
    const std::size_t text = rest.find('<');
    append_text(out, rest.substr(0, text));
    if (text == std::string_view::npos) break;
    rest.remove_prefix(text);
    const std::string_view kept = after_dropped(rest);
    if (kept.size() != rest.size()) {
      rest = kept;
      continue;
    }
    const std::size_t end = rest.find('>');
    const std::string_view tag = rest.substr(0, end == std::string_view::npos ? end : end + 1);
    append_tag(out, tag, prefix);
    rest.remove_prefix(tag.size());
  }
  return out + "</svg>";
}

}  // namespace

std::string draw_svg(const Figure& figure) {
  check(figure);
  return inline_svg(run_gnuplot(gnuplot_script(figure)), figure.id + "-", figure.title);
}

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

Drawing draw(const Figure& figure) { return {figure.id, draw_svg(figure), figure.caption, figure.command}; }

}  // namespace speclab

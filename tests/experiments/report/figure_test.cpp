#include "experiments/report/figure.hpp"

#include <doctest/doctest.h>
#include <stdlib.h>

#include <cmath>
#include <iterator>
#include <limits>
#include <regex>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>

#include "experiments/report/gnuplot_script.hpp"

namespace {

using namespace speclab;

constexpr double missing = std::numeric_limits<double>::quiet_NaN();

std::size_t count(std::string_view text, std::string_view part) {
  std::size_t found = 0;
  for (auto at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// A formula as a line and its simulation as five points in the same colour.
Figure formula_and_simulation() {
  Figure figure;
  figure.id = "fig2";
  figure.title = "E[tokens] & it's \"α\" <b>";
  figure.x_label = "acceptance α";
  figure.y_label = "tokens_{per} run";
  Series line{"γ = 3", SeriesStyle::line, {}, {}, {}, {}, {}};
  Series points{"simulated", SeriesStyle::points, {}, {}, {}, {}, 0};
  for (int i = 0; i < 50; ++i) {
    const double alpha = i / 50.0;
    const double tokens = (1 - std::pow(alpha, 4)) / (1 - alpha);
    line.x.push_back(alpha);
    line.y.push_back(tokens);
    if (i % 10 != 5) continue;
    points.x.push_back(alpha);
    points.y.push_back(tokens);
    points.low.push_back(tokens - 0.1);
    points.high.push_back(tokens + 0.1);
  }
  figure.series = {line, points};
  return figure;
}

/// Pieces of curves: each begins with a move of the pen.
std::size_t strokes(std::string_view svg) {
  static const std::regex move("[' ]M[ 0-9]");
  const std::string text(svg);
  return static_cast<std::size_t>(
      std::distance(std::sregex_iterator(text.begin(), text.end(), move), std::sregex_iterator()));
}

std::set<std::string> colours(const std::string& svg) {
  static const std::regex colour("rgb\\([^)]*\\)");
  std::set<std::string> all;
  for (std::sregex_iterator at(svg.begin(), svg.end(), colour), end; at != end; ++at) all.insert(at->str());
  return all;
}

// Replaces an environment variable while it lives.
class Environment {
 public:
  Environment(const char* name, const char* value) : name_(name), former_(::getenv(name)) {
    ::setenv(name, value, 1);
  }
  ~Environment() { ::setenv(name_, former_.c_str(), 1); }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  const char* name_;
  std::string former_;
};

}  // namespace

TEST_CASE("every series is drawn and named") {
  const std::string svg = draw_svg(formula_and_simulation());
  CHECK(svg.starts_with("<svg"));
  CHECK(svg.ends_with("</svg>"));
  CHECK(contains(svg, "viewBox="));
  CHECK(contains(svg, "<text>γ = 3</text>"));
  CHECK(contains(svg, "<text>simulated</text>"));
  CHECK(contains(svg, "acceptance α"));
  CHECK(contains(svg, "tokens_{per} run"));
  // A further point is one more marker, and bars are strokes of their own.
  Figure fewer = formula_and_simulation();
  for (auto* values : {&fewer.series[1].x, &fewer.series[1].y, &fewer.series[1].low, &fewer.series[1].high}) {
    values->pop_back();
  }
  CHECK(count(svg, "<use ") == count(draw_svg(fewer), "<use ") + 1);
  fewer = formula_and_simulation();
  fewer.series[1].low.clear();
  fewer.series[1].high.clear();
  CHECK(strokes(svg) > strokes(draw_svg(fewer)));
  // Points that share the curve's colour bring no further colour.
  Figure two_colours = formula_and_simulation();
  two_colours.series[1].colour_of.reset();
  CHECK(colours(draw_svg(two_colours)).size() == colours(svg).size() + 1);
}

TEST_CASE("text stays text") {
  const std::string svg = draw_svg(formula_and_simulation());
  CHECK(contains(svg, "E[tokens] &amp; it's \"α\" &lt;b></text>"));
  CHECK_FALSE(contains(svg, "<b>"));
  CHECK_FALSE(contains(svg, "<title>"));
  CHECK(gnuplot_quoted("a\n`1`") == "\"a \\01401\\0140\"");
  Figure figure = formula_and_simulation();
  figure.title = "'; system \"false\"; print '`false` @x";
  figure.series[0].name = "id='x' href='#y' url(#z)";
  const std::string hostile = draw_svg(figure);
  CHECK(contains(hostile, "<text>'; system \"false\"; print '`false` @x</text>"));
  CHECK(contains(hostile, "<text>id='x' href='#y' url(#z)</text>"));
}

TEST_CASE("a % in any label is drawn as it stands") {
  Figure figure;
  figure.id = "shares";
  figure.title = "100% of %d";
  figure.x_label = "%h";
  figure.categories = {"50% greedy", "50%", "%s%%"};
  figure.series = {{"at 9%", SeriesStyle::points, {0, 1, 2}, {1, 2, 3}, {}, {}, {}},
                   {"%5.2f", SeriesStyle::levels, {0, 1, 2}, {1, 2, 3}, {}, {}, {}}};
  const std::string svg = draw_svg(figure);
  for (const char* text : {"100% of %d", "%h", "50% greedy", "50%", "%s%%", "at 9%", "%5.2f"}) {
    CAPTURE(text);
    CHECK(contains(svg, "<text>" + std::string(text) + "</text>"));
  }
  Figure timeline;
  timeline.id = "timeline";
  timeline.trace = {{"50% greedy", {{0, 1, "5%"}}}};
  CHECK(contains(draw_svg(timeline), "<text>50% greedy</text>"));
}

TEST_CASE("the end of a CDATA section in a label leaves the drawing well-formed") {
  Figure figure = formula_and_simulation();
  figure.title = "a]]>b]]]>";
  const std::string svg = draw_svg(figure);
  CHECK_FALSE(contains(svg, "]]>"));
  CHECK(contains(svg, "<text>a]]&gt;b]]]&gt;</text>"));
}

TEST_CASE("ids are the figure's own") {
  const std::string svg = draw_svg(formula_and_simulation());
  CHECK(count(svg, " id='fig2-") + count(svg, " id=\"fig2-") == count(svg, " id='") + count(svg, " id=\""));
  CHECK(count(svg, "href='#fig2-") == count(svg, "href='#"));
  CHECK(count(svg, "url(#fig2-") == count(svg, "url(#"));
}

TEST_CASE("a value that is not a number is a gap") {
  Figure figure;
  figure.id = "gap";
  figure.series = {{"", SeriesStyle::line, {0, 1, 2, 3, 4}, {1, 2, missing, 2, 1}, {}, {}, {}}};
  const std::size_t with_gap = strokes(draw_svg(figure));
  figure.series[0].y[2] = 1.5;
  CHECK(strokes(draw_svg(figure)) + 1 == with_gap);
}

TEST_CASE("logarithmic axes, ranges and steps") {
  Figure figure;
  figure.id = "log";
  figure.log_x = figure.log_y = true;
  figure.y_range = AxisRange{0.1, 1e4};
  figure.series = {{"steps", SeriesStyle::steps, {1, 10, 100}, {1, 100, 1000}, {}, {}, {}}};
  const std::string svg = draw_svg(figure);
  CHECK(contains(svg, "<text>10000</text>"));
  CHECK(contains(svg, "<text>0.1</text>"));
  CHECK(contains(svg, "<text>steps</text>"));
}

TEST_CASE("a heat map has a cell per finite value") {
  Figure figure;
  figure.id = "heat";
  figure.x_label = "c";
  figure.log_x = true;
  figure.heat = HeatMap{{0.01, 0.1, 1}, {0.5, 0.9}, {{1, 2, 3}, {4, missing, 6}}, "speed-up"};
  const std::string svg = draw_svg(figure);
  CHECK(contains(svg, "<text>speed-up</text>"));
  const auto cells = [](const Figure& drawn) { return count(draw_svg(drawn), "<polygon"); };
  Figure full = figure;
  full.heat->z[1][1] = 5;
  CHECK(cells(full) == cells(figure) + 1);
  full.series = {{"break-even", SeriesStyle::line, {0.01, 1}, {0.5, 0.9}, {}, {}, {}}};
  CHECK(contains(draw_svg(full), "<text>break-even</text>"));
}

TEST_CASE("a trace diagram has its rows, its kinds and a block per run") {
  Figure figure;
  figure.id = "trace";
  figure.x_label = "time";
  figure.trace = {{"plain", {{0, 1, "target run"}, {1, 2, "target run"}}},
                  {"γ = 2", {{0, .1, "draft run"}, {.1, .2, "draft run"}, {.2, 1.2, "target run"}}}};
  const std::string svg = draw_svg(figure);
  for (const char* text : {"plain", "γ = 2", "target run", "draft run"}) {
    CHECK(contains(svg, "<text>" + std::string(text) + "</text>"));
  }
  Figure shorter = figure;
  shorter.trace[1].blocks.pop_back();
  CHECK(count(svg, "<polygon") == count(draw_svg(shorter), "<polygon") + 1);
}

TEST_CASE("a categorical axis has its names, in order, and levels across them") {
  Figure figure;
  figure.id = "rules";
  figure.categories = {"token", "k-seq, k = 4", "<b> 'x'"};
  Series points{"accepted",      SeriesStyle::points, {0, 1, 2}, {0.6, 0.7, 0.8},
                {0.5, 0.6, 0.7}, {0.7, 0.8, 0.9},     {}};
  Series levels{"bound", SeriesStyle::levels, {0, 2}, {0.6, 0.9}, {}, {}, {}};
  figure.series = {points, levels};
  const std::string svg = draw_svg(figure);
  for (const char* text : {"token", "k-seq, k = 4", "&lt;b> 'x'", "accepted", "bound"}) {
    CHECK(contains(svg, "<text>" + std::string(text) + "</text>"));
  }
  CHECK(svg.find("<text>token</text>") < svg.find("<text>k-seq, k = 4</text>"));
  // Numbers on the vertical axis alone.
  CHECK_FALSE(contains(svg, "<text>2</text>"));
  Figure one_level = figure;
  one_level.series[1].x = {0};
  one_level.series[1].y = {0.6};
  CHECK(strokes(draw_svg(one_level)) + 1 == strokes(svg));
  Figure numbered = figure;
  numbered.categories.clear();
  numbered.series.pop_back();
  CHECK(contains(draw_svg(numbered), "<text>2</text>"));
}

TEST_CASE("a figure that contradicts itself is refused") {
  const Figure good = formula_and_simulation();
  const auto refused = [&good](auto spoil) {
    Figure figure = good;
    spoil(figure);
    CHECK_THROWS_AS(draw_svg(figure), std::invalid_argument);
  };
  refused([](Figure& f) { f.id = "a b"; });
  refused([](Figure& f) { f.series.clear(); });
  refused([](Figure& f) { f.series[0].y.pop_back(); });
  refused([](Figure& f) { f.series[1].low.pop_back(); });
  refused([](Figure& f) { f.series[0].colour_of = 0; });
  refused([](Figure& f) { f.heat = HeatMap{{1, 1}, {1}, {{1, 1}}, ""}; });
  refused([](Figure& f) { f.categories = {"one", "two"}, f.series[0].x[0] = 1.5, f.series[1].x[0] = 2; });
  refused([](Figure& f) { f.categories = {"one", "two"}, f.log_x = true; });
  refused([](Figure& f) { f.series[0].style = SeriesStyle::levels; });
  refused([](Figure& f) { f.trace = {{"row", {{0, 1, "kind"}}}}; });
}

TEST_CASE("a missing gnuplot and a refused script are explained") {
  Figure figure = formula_and_simulation();
  {
    const Environment path("PATH", "/nonexistent");
    CHECK_THROWS_WITH_AS(draw_svg(figure),
                         "cannot draw: gnuplot is not installed (on Debian: apt install gnuplot-nox)",
                         std::runtime_error);
  }
  figure.series[0].y.assign(figure.series[0].y.size(), missing);
  figure.series.pop_back();
  CHECK_THROWS_WITH_AS(draw_svg(figure), doctest::Contains("gnuplot failed"), std::runtime_error);
}

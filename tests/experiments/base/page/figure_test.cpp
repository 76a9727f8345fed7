#include "experiments/base/page/figure.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "core/random/philox.hpp"
#include "experiments/base/page/axis.hpp"
#include "experiments/base/page/colours.hpp"

namespace {

using namespace speclab;
using Data = nlohmann::json;

constexpr double missing = std::numeric_limits<double>::quiet_NaN();

std::size_t count(std::string_view text, std::string_view part) {
  std::size_t found = 0;
  for (auto at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// Returns a formula as a line and its simulation as five points in the same colour.
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

Data data_of(const Figure& figure) { return Data::parse(draw(figure).data); }

/// Returns the number of pieces of curves; each begins with a move of the pen.
std::size_t strokes(const Figure& figure) {
  static const std::regex curve("class=\"curve\"[^>]* d=\"([^\"]*)\"");
  const std::string svg = draw(figure).plot;
  std::size_t all = 0;
  for (std::sregex_iterator at(svg.begin(), svg.end(), curve), end; at != end; ++at)
    all += count((*at)[1].str(), "M");
  return all;
}

/// Places should be a + b f(value), with one b for all: returns the largest distance from that line.
double distance_from_line(const std::vector<double>& values, const std::vector<double>& places) {
  const double slope = (places.back() - places.front()) / (values.back() - values.front());
  double most = 0;
  for (std::size_t i = 0; i < values.size(); ++i)
    most = std::max(most, std::abs(places.front() + slope * (values[i] - values.front()) - places[i]));
  return most;
}

/// Returns the contrast of two colours as WCAG 2 defines it.
double contrast(const std::string& a, const std::string& b) {
  const auto luminance = [](const std::string& hex) {
    double sum = 0;
    constexpr std::array<double, 3> weights = {0.2126, 0.7152, 0.0722};
    for (std::size_t i = 0; i < weights.size(); ++i) {
      const double value = std::stoi(hex.substr(1 + 2 * i, 2), nullptr, 16) / 255.0;
      sum += weights.at(i) * (value <= 0.03928 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4));
    }
    return sum;
  };
  const double one = luminance(a) + 0.05;
  const double other = luminance(b) + 0.05;
  return std::max(one, other) / std::min(one, other);
}

}  // namespace

TEST_CASE("every series is drawn where its numbers are, and named") {
  const Figure figure = formula_and_simulation();
  const Drawing drawing = draw(figure);
  const std::string svg = svg_file(drawing);
  CHECK(svg.starts_with("<svg"));
  for (const char* text :
       {">γ = 3</text>", ">simulated</text>", ">acceptance α</text>", ">tokens_{per} run</text>"}) {
    CAPTURE(text);
    CHECK(contains(svg, text));
  }
  // The page shows titles, not the drawing.
  CHECK_FALSE(contains(drawing.plot, "E[tokens]"));
  const Data data = data_of(figure);
  REQUIRE(data["series"].size() == 2);
  for (std::size_t s = 0; s < 2; ++s) {
    const Data& drawn = data["series"][s];
    CHECK(drawn["x"].size() == figure.series[s].x.size());
    CHECK(distance_from_line(figure.series[s].x, drawn["px"].get<std::vector<double>>()) < 0.01);
    CHECK(distance_from_line(figure.series[s].y, drawn["py"].get<std::vector<double>>()) < 0.01);
  }
  CHECK(data["series"][1]["low"].size() == 5);
  // Each point has one marker in the colour of the line.
  CHECK(count(drawing.plot.substr(drawing.plot.find("class=\"marks\"")), "<path d=") +
            count(drawing.plot.substr(drawing.plot.find("class=\"marks\"")), "<circle") ==
        5);
  CHECK(drawing.legend.size() == 2);
  CHECK(drawing.legend[0].colour == drawing.legend[1].colour);
}

TEST_CASE("text stays text") {
  Figure figure = formula_and_simulation();
  figure.y_label = "<b>&";
  figure.series[0].name = "</script><b>\"";
  const Drawing drawing = draw(figure);
  CHECK_FALSE(contains(svg_file(drawing), "<b>"));
  CHECK_FALSE(contains(drawing.data, "<"));
  CHECK(Data::parse(drawing.data)["series"][0]["name"] == figure.series[0].name);
}

TEST_CASE("a value that is not a number is a gap") {
  Figure figure;
  figure.id = "gap";
  figure.series = {{"", SeriesStyle::line, {0, 1, 2, 3, 4}, {1, 2, missing, 2, 1}, {}, {}, {}}};
  CHECK(strokes(figure) == 2);
  figure.series[0].y[2] = 1.5;
  CHECK(strokes(figure) == 1);
}

TEST_CASE("no figure prints a number that is none, whatever its series hold") {
  // Draws 400 figures of random values; a third of the values are nan, infinite, 0 or negative.
  for (std::uint32_t seed = 0; seed < 400; ++seed) {
    CAPTURE(seed);
    Philox words(7, Site{seed, 0, Draw{Use::world, 1}});
    const auto value = [&] {
      const double odd[] = {missing, INFINITY, -INFINITY, 0, -3};
      return words() % 3 == 0 ? odd[words() % 5] : std::exp(4 * open_unit(words()));
    };
    Figure figure;
    figure.id = "f";
    figure.log_x = seed % 2 == 0;
    figure.log_y = seed % 4 < 2;
    const bool rows = seed % 5 == 0;
    if (rows) {
      figure.log_x = false;
      figure.categories = {"a", "b"};
    }
    for (const SeriesStyle style : {SeriesStyle::points, rows ? SeriesStyle::levels : SeriesStyle::line}) {
      Series series{.name = "s", .style = style};
      for (int i = 0; i < 6; ++i) {
        series.x.push_back(rows ? i % 2 : value());
        series.y.push_back(value());
        if (style == SeriesStyle::levels) continue;
        series.low.push_back(value());
        series.high.push_back(value());
      }
      figure.series.push_back(series);
    }
    if (!rows && seed % 7 == 0)
      figure.heat = HeatMap{{1, 2}, {1, 2}, {{value(), value()}, {value(), value()}}, ""};
    const Drawing drawing = draw(figure);
    for (const std::string& text : {drawing.plot, drawing.data, svg_file(drawing)}) {
      CHECK_FALSE(contains(text, "nan"));
      CHECK_FALSE(contains(text, "inf"));
    }
  }
}

TEST_CASE("a band that reaches 0 ends at the logarithmic axis") {
  Figure figure;
  figure.id = "f";
  figure.log_y = true;
  figure.series = {{.name = "s", .x = {1, 2}, .y = {5, 6}, .low = {-1, 4}, .high = {8, 9}}};
  const std::string plot = draw(figure).plot;
  CHECK_FALSE(contains(plot, "nan"));
  CHECK(count(plot, "fill-opacity") == 1);
}

TEST_CASE("logarithmic axes, and round numbers beside them") {
  Figure figure;
  figure.id = "log";
  figure.log_x = figure.log_y = true;
  figure.y_range = AxisRange{0.1, 1e4};
  figure.series = {{"steps", SeriesStyle::steps, {1, 10, 100}, {1, 100, 1000}, {}, {}, {}}};
  const std::string svg = draw(figure).plot;
  for (const char* text : {">0.1</text>", ">10000</text>", ">10</text>"}) CHECK(contains(svg, text));
  const std::vector<double> px = data_of(figure)["series"][0]["px"];
  CHECK(px[1] - px[0] == doctest::Approx(px[2] - px[1]).epsilon(1e-4));
  CHECK(tick_text(1e5) == "10⁵");
  CHECK(tick_text(-3e-6) == "-3·10⁻⁶");
  CHECK(tick_text(0.30000000000000004) == "0.3");
}

TEST_CASE("values that differ by rounding alone have a range around them") {
  // There is no double between 0.75 and its neighbour to write at the axis.
  const AxisRange range = range_of({0.75, std::nextafter(0.75, 1)}, false);
  CHECK(range.low < 0.7);
  CHECK(range.high > 0.8);
  CHECK(ticks_of({range, false, 0, 400}, 7, false).size() <= 8);
  CHECK(range_of({0.75, std::nextafter(0.75, 1)}, true).high > 1);
  CHECK_FALSE(apart({INFINITY, -INFINITY}));
}

TEST_CASE("ticks are round, within the axis and few") {
  for (const AxisRange range : {AxisRange{0, 1}, {0.93, 1.02}, {-4, 9}, {0, 26}, {1e-9, 3e-9}, {1e6, 7e8}}) {
    const std::vector<double> ticks = ticks_of({range, false, 0, 400}, 7, false);
    CAPTURE(range.high);
    CHECK(ticks.size() >= 2);
    CHECK(ticks.size() <= 8);
    CHECK(ticks.front() >= range.low - 1e-9 * range.high);
    CHECK(ticks.back() <= range.high * (1 + 1e-9));
  }
  for (const double tick : ticks_of({{0.5, 5.5}, false, 0, 400}, 7, true)) CHECK(tick == std::floor(tick));
  for (const AxisRange range : {AxisRange{0.9, 7}, {1, 1e9}, {1e-12, 1}, {40, 60}}) {
    const std::vector<double> ticks = ticks_of({range, true, 0, 400}, 7, false);
    CAPTURE(range.high);
    CHECK(ticks.size() <= 8);
    CHECK(std::is_sorted(ticks.begin(), ticks.end()));
  }
}

TEST_CASE("a heat map of few cells has ticks at their values, one of many at round ones") {
  const auto map = [](const std::vector<double>& values) {
    Figure figure;
    figure.id = "heat";
    figure.heat = HeatMap{values, {1, 2}, {values, values}, "z", false};
    return draw(figure).plot;
  };
  for (const char* text : {">0.07</text>", ">0.31</text>", ">0.9</text>"})
    CHECK(contains(map({0.07, 0.31, 0.9}), text));
  std::vector<double> many(100);
  for (std::size_t i = 0; i < many.size(); ++i) many[i] = .01 + .0097 * static_cast<double>(i);
  CHECK(contains(map(many), ">0.4</text>"));
  // A single column at a large number has borders.
  CHECK_FALSE(contains(map({1e17}), "nan"));
}

TEST_CASE("ticks of an axis with values of its own stand at these") {
  const auto ticks = [](std::vector<double> values, bool logarithmic = false) {
    const double half = (values[1] - values[0]) / 2;
    return ticks_of({{values.front() - half, values.back() + half}, logarithmic, 0, 300, values}, 7, false);
  };
  const std::vector<double> few{1, 2, 3, 5, 7};
  CHECK(ticks(few) == few);
  CHECK(ticks({.05, .25, .45, .65, .85, 1.05}) == std::vector<double>{.05, .25, .45, .65, .85, 1.05});
  // Ticks that would overlap are left out; of many values the round ones are taken.
  CHECK(ticks({1, 2, 4, 8, 16, 32, 64}).size() <= 4);
  CHECK(ticks({1, 2, 4, 8, 16, 32, 64}, true).size() >= 3);
  std::vector<double> hundredths(101);
  for (int i = 0; i <= 100; ++i) hundredths[static_cast<std::size_t>(i)] = i / 100.0;
  CHECK(ticks(hundredths) == ticks_of({{-.005, 1.005}, false, 0, 300}, 7, false));
}

TEST_CASE("lines that coincide are both seen, and points stand side by side") {
  Figure figure;
  figure.id = "same";
  const Series one{"a", SeriesStyle::line, {0, 1, 2}, {1, 2, 3}, {}, {}, {}};
  Series other = one;
  other.name = "b";
  figure.series = {one, other};
  const auto dashed = [](const Figure& drawn) { return count(draw(drawn).plot, "stroke-dasharray=\"8 8\""); };
  CHECK(dashed(figure) == 2);
  // The dashes of one line fill the gaps of the other.
  CHECK(contains(draw(figure).plot, "stroke-dashoffset=\"16\""));
  CHECK(contains(draw(figure).plot, "stroke-dashoffset=\"8\""));
  Figure apart = figure;
  apart.series[1].y = {3, 2, 1};
  CHECK(dashed(apart) == 0);

  Figure points;
  points.id = "points";
  points.series = {{"a", SeriesStyle::points, {0, 1}, {1, 2}, {}, {}, {}},
                   {"b", SeriesStyle::points, {0, 1}, {1, 3}, {}, {}, {}}};
  const Data data = data_of(points);
  const auto px = [&](std::size_t s, std::size_t i) { return data["series"][s]["px"][i].get<double>(); };
  CHECK(px(1, 0) - px(0, 0) >= 4);
  CHECK(px(1, 1) == px(0, 1));
  CHECK(contains(draw(points).caption, "side by side"));
}

TEST_CASE("of more than can be seen a part is drawn, and the caption says so") {
  Figure figure;
  figure.id = "long";
  Series series{.name = "many"};
  for (int i = 0; i < 100000; ++i) series.add(i, std::sqrt(i));
  figure.series = {series};
  CHECK(data_of(figure)["series"][0]["x"].size() <= 500);
  CHECK(contains(draw(figure).caption, "one point in 200"));
  Figure heat;
  heat.id = "large";
  std::vector<double> axis;
  for (int i = 0; i < 1000; ++i) axis.push_back(i);
  heat.heat = HeatMap{axis, axis, std::vector<std::vector<double>>(1000, axis), "z"};
  const Drawing drawing = draw(heat);
  CHECK(drawing.plot.size() + drawing.data.size() < 2'000'000);
  CHECK(contains(drawing.caption, "One cell in 49"));
}

TEST_CASE("a heat map has a cell per finite value") {
  Figure figure;
  figure.id = "heat";
  figure.x_label = "c";
  figure.log_x = true;
  figure.heat = HeatMap{{0.01, 0.1, 1}, {0.5, 0.9}, {{1, 2, 3}, {4, missing, 6}}, "speed-up"};
  CHECK(contains(draw(figure).plot, ">speed-up</text>"));
  const auto cells = [](const Figure& drawn) {
    const std::string plot = draw(drawn).plot;
    const std::size_t begin = plot.find("class=\"cells\"");
    return count(plot.substr(begin, plot.find("</g>", begin) - begin), "M");
  };
  CHECK(cells(figure) == 5);
  Figure full = figure;
  full.heat->z[1][1] = 5;
  CHECK(cells(full) == 6);
  full.series = {{"break-even", SeriesStyle::line, {0.01, 1}, {0.5, 0.9}, {}, {}, {}}};
  CHECK(draw(full).legend.size() == 1);
  CHECK(data_of(figure)["cells"]["z"][1][1].is_null());
}

TEST_CASE("a trace diagram has its rows, its kinds and a block per run") {
  Figure figure;
  figure.id = "trace";
  figure.x_label = "time";
  figure.trace = {{"plain", {{0, 1, "target run"}, {1, 2, "target run"}}},
                  {"γ = 2", {{0, .1, "draft run"}, {.1, .2, "draft run"}, {.2, 1.2, "target run"}}}};
  const std::string svg = svg_file(draw(figure));
  for (const char* text : {">plain</text>", ">γ = 2</text>", ">target run</text>", ">draft run</text>"})
    CHECK(contains(svg, text));
  CHECK(count(draw(figure).plot, "<rect x=") == 5);
}

TEST_CASE("a categorical axis has its names as rows, in order, and levels across them") {
  Figure figure;
  figure.id = "rules";
  figure.categories = {"token", "k-seq, k = 4", "<b> 'x'"};
  Series points{"accepted",      SeriesStyle::points, {0, 1, 2}, {0.6, 0.7, 0.8},
                {0.5, 0.6, 0.7}, {0.7, 0.8, 0.9},     {}};
  Series levels{"bound", SeriesStyle::levels, {0, 2}, {0.6, 0.9}, {}, {}, {}};
  figure.series = {points, levels};
  const std::string svg = draw(figure).plot;
  for (const char* text : {">token</text>", ">k-seq, k = 4</text>", ">&lt;b&gt; &#39;x&#39;</text>"})
    CHECK(contains(svg, text));
  CHECK(svg.find(">token</text>") < svg.find(">k-seq, k = 4</text>"));
  const Data data = data_of(figure);
  const std::vector<double> py = data["series"][0]["py"];
  CHECK(std::is_sorted(py.begin(), py.end()));
  // Points of one row that would hide one another have separate lanes.
  Figure crowded = figure;
  crowded.series[1] = points;
  crowded.series[1].name = "again";
  const Data lanes = data_of(crowded);
  CHECK(std::abs(lanes["series"][0]["py"][0].get<double>() - lanes["series"][1]["py"][0].get<double>()) >= 8);
}

TEST_CASE("names keep their colour from figure to figure, and all colours are seen on both grounds") {
  const std::vector<std::size_t> some = colours_of({"γ = 3", "γ = 10"}, false);
  const std::vector<std::size_t> more = colours_of({"γ = 1", "γ = 3", "something", "γ = 10"}, false);
  CHECK(some[0] == more[1]);
  CHECK(some[1] == more[3]);
  CHECK(std::set(more.begin(), more.end()).size() == 4);
  for (std::size_t i = 0; i < light_palette.size(); ++i) {
    CAPTURE(i);
    CHECK(contrast(light_palette.at(i), "#ffffff") >= 3);
    CHECK(contrast(dark_palette.at(i), "#15181c") >= 3);
  }
}

TEST_CASE("points with names tell them under the pointer; labels stand where nothing else does") {
  Figure figure;
  figure.id = "named";
  figure.series = {{.name = "all", .style = SeriesStyle::points, .x = {1, 2, 2.001}, .y = {1, 2, 2}}};
  figure.series[0].names = {"first <1>", "second", "third"};
  figure.series[0].labels = {"one", "two", ""};
  const Drawing drawing = draw(figure);
  CHECK(contains(drawing.plot, "<title>first &lt;1&gt;</title>"));
  CHECK(count(drawing.plot, "<title>") == 3);
  CHECK(contains(drawing.plot, ">one</text>"));
  CHECK(Data::parse(drawing.data)["series"][0]["names"][1] == "second");

  // If labels would cover one another, only as many are drawn as fit.
  Figure crowded;
  crowded.id = "crowded";
  crowded.series = {{.name = "all", .style = SeriesStyle::points}};
  for (int i = 0; i < 40; ++i) {
    crowded.series[0].add(1 + i * 1e-3, 1);
    crowded.series[0].labels.push_back("a label");
  }
  crowded.series[0].add(2, 2);
  crowded.series[0].labels.emplace_back("");
  CHECK(count(draw(crowded).plot, ">a label</text>") < 10);
  crowded.series[0].labels.pop_back();
  CHECK_THROWS_AS(draw(crowded), std::invalid_argument);
}

TEST_CASE("a figure that contradicts itself is refused") {
  const Figure good = formula_and_simulation();
  const auto refused = [&good](auto spoil) {
    Figure figure = good;
    spoil(figure);
    CHECK_THROWS_AS(draw(figure), std::invalid_argument);
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

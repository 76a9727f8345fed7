#include "experiments/plot/plot_figures.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "experiments/format/config_error.hpp"
#include "experiments/results/presentation.hpp"
#include "tests/experiments/run_of.hpp"

using namespace speclab;

namespace {

/// The table of a result's CSV, as the verb reads it.
PlotTable table_of(const std::string& csv) {
  auto records = csv_records(csv);
  PlotTable table{std::move(records.front()), {}};
  records.erase(records.begin());
  table.rows = std::move(records);
  return table;
}

std::string csv_of(const std::string& config) {
  const RunResult run = run_of(parse_json(config));
  return csv_of(run.result, run.timings);
}

/// Three swept axes, simulated, so that there are formulas and intervals.
const std::string& three_axes() {
  static const std::string csv = csv_of(
      R"({"title": "t", "models": {"target": {"kind": "zipf", "vocab": 16, "exponent": 1},
          "draft": {"kind": "mixture", "alpha": 0.8, "other": {"kind": "zipf", "exponent": 1, "reversed": true}}},
          "simulation": {"trials": 16, "length": 60},
          "sweep": {"/models/draft/alpha": [0.5, 0.6, 0.7, 0.8], "/cost/c": [0.01, 0.2], "/gamma": [1, 3, 5]}})");
  return csv;
}

std::string error_of(const PlotTable& table, const PlotRequest& request) {
  try {
    plot_panels(table, request);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// The columns of a CSV, looked up without any of the code under test: by the end of their names.
struct Csv {
  std::vector<std::string> names;
  std::vector<std::vector<std::string>> rows;

  explicit Csv(const std::string& text) {
    const PlotTable table = table_of(text);
    names = table.columns;
    rows = table.rows;
  }
  double at(std::size_t row, const std::string& end) const {
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (names[i].ends_with(end) &&
          (names[i].size() == end.size() || names[i][names[i].size() - end.size() - 1] == '_'))
        return std::stod(rows[row][i]);
    }
    FAIL("no column ends with " << end);
    return 0;
  }
};

}  // namespace

TEST_CASE("three swept axes: x, colours and panels, every point where the CSV has it") {
  const Csv csv(three_axes());
  const std::vector<Panel> panels =
      plot_panels(table_of(three_axes()), {.x = "alpha", .y = "speedup", .color = {"gamma"}, .facet = {"c"}});
  REQUIRE(panels.size() == 2);
  std::size_t points = 0;
  std::size_t formulas = 0;
  for (std::size_t row = 0; row < csv.rows.size(); ++row) {
    const std::string c = csv.at(row, "c") == 0.01 ? "c = 0.01" : "c = 0.2";
    const std::string gamma = "γ = " + std::to_string(static_cast<int>(csv.at(row, "gamma")));
    for (const Panel& panel : panels) {
      if (panel.figure.title != c) continue;
      const auto& all = panel.figure.series;
      REQUIRE(all.size() == 6);
      for (const Series& series : all) {
        if ((series.colour_of ? all[*series.colour_of].name : series.name) != gamma) continue;
        for (std::size_t i = 0; i < series.x.size(); ++i) {
          if (series.x[i] != csv.at(row, "alpha")) continue;
          if (series.style == SeriesStyle::line) {
            CHECK(series.y[i] == csv.at(row, "formula_speedup"));
            ++formulas;
          } else {
            CHECK(series.y[i] == csv.at(row, "simulated_speedup"));
            CHECK(series.low[i] == csv.at(row, "simulated_speedup_low"));
            CHECK(series.high[i] == csv.at(row, "simulated_speedup_high"));
            ++points;
          }
        }
      }
    }
  }
  CHECK(points == 24);
  CHECK(formulas == 24);
}

TEST_CASE("the drawing has its markers where the numbers are: one straight line from value to place") {
  const std::vector<Panel> panels =
      plot_panels(table_of(three_axes()), {.x = "alpha", .y = "speedup", .color = {"gamma"}, .facet = {"c"}});
  const std::string svg = draw_picture(panels, {.size = PictureSize{200, 100}});
  static const std::regex marker(
      "<use xlink:href='#gpPt[0-9]+' transform='translate\\(([0-9.]+),([0-9.]+)\\)");
  std::vector<std::pair<double, double>> drawn;
  for (std::sregex_iterator at(svg.begin(), svg.end(), marker), end; at != end; ++at)
    drawn.emplace_back(std::stod((*at)[1]), std::stod((*at)[2]));
  std::vector<std::pair<double, double>> values;
  for (const Panel& panel : panels) {
    for (const Series& series : panel.figure.series) {
      for (std::size_t i = 0; series.style == SeriesStyle::points && i < series.x.size(); ++i)
        values.emplace_back(series.x[i], series.y[i]);
    }
  }
  REQUIRE(values.size() == 24);
  REQUIRE(drawn.size() >= 24);
  // Of each panel the slopes follow from two points; the others then have no freedom.
  for (std::size_t panel = 0; panel < 2; ++panel) {
    const auto value = [&](std::size_t i) { return values[12 * panel + i]; };
    const auto place = [&](std::size_t i) { return drawn[12 * panel + i]; };
    const double x_slope = (place(3).first - place(0).first) / (value(3).first - value(0).first);
    const double y_slope = (place(11).second - place(0).second) / (value(11).second - value(0).second);
    CHECK(x_slope > 0);
    CHECK(y_slope < 0);
    for (std::size_t i = 0; i < 12; ++i) {
      CHECK(std::abs(place(0).first + x_slope * (value(i).first - value(0).first) - place(i).first) < 1);
      CHECK(std::abs(place(0).second + y_slope * (value(i).second - value(0).second) - place(i).second) < 1);
    }
  }
}

TEST_CASE("what nobody names: the longest axis across, the next as colours, further ones as panels") {
  const std::vector<Panel> panels = plot_panels(table_of(three_axes()), {});
  REQUIRE(panels.size() == 2);
  CHECK(panels[0].figure.x_label == "α");
  CHECK(panels[0].figure.y_label == "speedup");
  std::size_t drawn = 0;
  for (const Panel& panel : panels) {
    for (const Series& series : panel.figure.series)
      drawn += series.style == SeriesStyle::points ? series.x.size() : 0;
  }
  CHECK(drawn == 24);
  // A column that others already tell apart makes no panels.
  const PlotTable twice = table_of("policy,kind,speedup\na,fixed,1\nb,fixed,2\nc,other,3\n");
  CHECK(plot_panels(twice, {.x = "policy"}).size() == 1);
}

TEST_CASE("rows are kept by number or by word") {
  const std::vector<Panel> panels =
      plot_panels(table_of(three_axes()), {.x = "alpha", .where = {{"c", "0.20"}, {"gamma", "3"}}});
  REQUIRE(panels.size() == 1);
  CHECK(panels[0].figure.series.size() == 2);
  CHECK(panels[0].figure.series[0].x.size() == 4);
}

TEST_CASE("heat maps, boxes and distributions") {
  const PlotTable table = table_of(three_axes());
  const std::vector<Panel> cells = plot_panels(
      table,
      {.x = "alpha", .y = "gamma", .color = {"speedup"}, .where = {{"c", "0.2"}}, .kind = PlotKind::heat});
  REQUIRE(cells.size() == 1);
  const HeatMap& heat = cells[0].figure.heat.value();
  const Csv csv(three_axes());
  std::size_t compared = 0;
  for (std::size_t row = 0; row < csv.rows.size(); ++row) {
    if (csv.at(row, "c") != 0.2) continue;
    const auto column = std::find(heat.x.begin(), heat.x.end(), csv.at(row, "alpha")) - heat.x.begin();
    const auto up = std::find(heat.y.begin(), heat.y.end(), csv.at(row, "gamma")) - heat.y.begin();
    CHECK(heat.z[static_cast<std::size_t>(up)][static_cast<std::size_t>(column)] ==
          csv.at(row, "simulated_speedup"));
    ++compared;
  }
  CHECK(compared == 12);

  const PlotTable sample = table_of("batch,latency\n1,1\n1,2\n1,3\n1,4\n1,100\n2,7\n");
  const std::vector<Panel> boxes = plot_panels(sample, {.x = "batch", .y = "latency", .kind = PlotKind::box});
  REQUIRE(boxes.size() == 1);
  REQUIRE(boxes[0].boxes.size() == 1);
  const Box& box = boxes[0].boxes[0].boxes.at(0);
  CHECK(box.least == 1);
  CHECK(box.lower == 2);
  CHECK(box.median == 3);
  CHECK(box.upper == 4);
  CHECK(box.most == 100);
  CHECK(draw_picture(boxes, {}).starts_with("<?xml"));

  const std::vector<Panel> shares =
      plot_panels(sample, {.y = "latency", .color = {"batch"}, .kind = PlotKind::ecdf});
  REQUIRE(shares[0].figure.series.size() == 2);
  CHECK(shares[0].figure.series[0].y == std::vector<double>{0, 0.2, 0.4, 0.6, 0.8, 1});
}

TEST_CASE("what cannot be drawn is named, with what there is") {
  const PlotTable table = table_of(three_axes());
  for (const PlotRequest& request : std::vector<PlotRequest>{{.x = "nonsense"},
                                                             {.y = "nonsense"},
                                                             {.color = {"nonsense"}},
                                                             {.facet = {"nonsense"}},
                                                             {.where = {{"nonsense", "1"}}}}) {
    const std::string error = error_of(table, request);
    CHECK(has(error, "nonsense"));
    CHECK(has(error, "gamma"));
    CHECK(has(error, "speedup"));
  }
  CHECK(has(error_of(table, {.where = {{"c", "0.3"}}}), "0.01, 0.2"));
  CHECK(has(error_of(table, {.y = "label"}), "is not a number"));
  std::string many = "x,y,speedup\n";
  for (int i = 0; i < 40; ++i) many += std::to_string(i % 2) + "," + std::to_string(i) + ",1\n";
  CHECK(has(error_of(table_of(many), {.x = "x", .color = {"y"}}), "40 series"));
  CHECK(has(error_of(table_of(many), {.x = "x", .facet = {"y"}}), "40 panels"));
}

TEST_CASE("several results are joined, told apart by their names") {
  const PlotTable one = table_of("alpha,speedup\n0.5,1\n0.6,2\n");
  const PlotTable other = table_of("alpha,extra,speedup\n0.5,z,3\n0.6,z,4\n");
  const PlotTable joined = joined_table({{"a", "", {}, one}, {"a", "", {}, other}});
  CHECK(joined.columns == std::vector<std::string>{"source", "alpha", "speedup", "extra"});
  CHECK(joined.rows[2] == std::vector<std::string>{"a (2)", "0.5", "3", "z"});
  const std::vector<Panel> panels = plot_panels(joined, {.x = "alpha", .color = {"source"}});
  REQUIRE(panels.size() == 1);
  CHECK(panels[0].figure.series.size() == 4);
}

TEST_CASE("CSV with quotes, and what is none") {
  CHECK(csv_records("a,\"b,\"\"c\"\"\"\r\n\n1,\"x\ny\"\n") ==
        std::vector<std::vector<std::string>>{{"a", "b,\"c\""}, {"1", "x\ny"}});
  CHECK_THROWS_AS(csv_records("a,\"b"), std::invalid_argument);
  CHECK_THROWS_AS(csv_records("a\"b\n"), std::invalid_argument);
}

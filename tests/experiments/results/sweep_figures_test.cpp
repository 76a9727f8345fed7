#include <doctest/doctest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "experiments/base/format/config_error.hpp"
#include "experiments/results/presentation.hpp"
#include "tests/experiments/run_of.hpp"

using namespace speclab;

namespace {

Result predicted(const std::string& sweep) {
  return run_of(parse_json(R"({"title": "t", "experiment": "predict", "sweep": )" + sweep + "}")).result;
}

/// Returns the speedup of Theorem 3.8.
double speedup(double alpha, int gamma, double c) {
  return (1 - std::pow(alpha, gamma + 1)) / ((1 - alpha) * (1 + gamma * c));
}

}  // namespace

TEST_CASE("a third axis becomes facets; every point is where Theorem 3.8 has it") {
  const Result result =
      predicted(R"({"/alpha": [0.5, 0.6, 0.7, 0.8, 0.9], "/cost/c": [0.01, 0.2], "/gamma": [1, 3, 5]})");
  const std::vector<Figure> figures = sweep_figures(result);
  REQUIRE(figures.size() == 2);
  std::size_t points = 0;
  for (std::size_t facet = 0; facet < 2; ++facet) {
    const double c = facet == 0 ? 0.01 : 0.2;
    const Figure& figure = figures[facet];
    CHECK(figure.title.find(facet == 0 ? "c = 0.01" : "c = 0.2") != std::string::npos);
    REQUIRE(figure.series.size() == 3);
    for (std::size_t curve = 0; curve < 3; ++curve) {
      const Series& series = figure.series[curve];
      const int gamma = 1 + 2 * static_cast<int>(curve);
      REQUIRE(series.x == std::vector<double>{0.5, 0.6, 0.7, 0.8, 0.9});
      for (std::size_t i = 0; i < series.x.size(); ++i, ++points)
        CHECK(series.y[i] == doctest::Approx(speedup(series.x[i], gamma, c)).epsilon(1e-12));
    }
  }
  CHECK(points == result.cells.size());
}

TEST_CASE("a heat map for each value of a third axis") {
  const Result result = predicted(
      R"({"/alpha": {"from": 0.1, "to": 0.8, "count": 15}, "/cost/c": {"from": 0, "to": 0.26, "step": 0.02},
          "/gamma": [2, 4]})");
  const std::vector<Figure> figures = sweep_figures(result);
  REQUIRE(figures.size() == 2);
  for (const Figure& figure : figures) {
    REQUIRE(figure.heat);
    const int gamma = &figure == &figures[0] ? 2 : 4;
    const HeatMap& heat = *figure.heat;
    for (std::size_t row = 0; row < heat.y.size(); ++row) {
      for (std::size_t column = 0; column < heat.x.size(); ++column) {
        const bool alpha_across = figure.x_label == "α";
        const double alpha = alpha_across ? heat.x[column] : heat.y[row];
        const double c = alpha_across ? heat.y[row] : heat.x[column];
        CHECK(heat.z[row][column] == doctest::Approx(speedup(alpha, gamma, c)).epsilon(1e-12));
      }
    }
  }
}

TEST_CASE("a logarithmic axis of a heat map leaves out what is not positive, and the page is made") {
  const Result result = run_of(parse_json(R"({"title": "t", "experiment": "predict", "gamma": 3,
      "sweep": {"/alpha": [0.5, 0.7], "/cost/c": [0, 0.01, 0.1]},
      "figures": [{"title": "S", "x": "/cost/c", "series": "/alpha", "y": "speedup", "style": "heat_map",
                   "log_x": true},
                  {"title": "S", "x": "/alpha", "series": "/cost/c", "y": "speedup", "style": "heat_map",
                   "log_y": true}]})"))
                            .result;
  std::vector<Figure> figures = sweep_figures(result);
  REQUIRE(figures.size() == 2);
  CHECK(figures[0].heat->x == std::vector<double>{0.01, 0.1});
  CHECK(figures[1].heat->y == std::vector<double>{0.01, 0.1});
  for (Figure& figure : figures) {
    figure.id = "heat";
    CHECK(draw(figure).plot.find("nan") == std::string::npos);
  }
}

TEST_CASE("many combinations: some are drawn, and the caption says how many there are") {
  const std::vector<Figure> figures = sweep_figures(
      predicted(R"({"/alpha": [0.5, 0.6, 0.7, 0.8], "/cost/c": [0, 0.1, 0.2], "/gamma": [1, 2, 3],
                    "/cost/c_hat": [0, 0.1, 0.2]})"));
  CHECK(figures.size() == 6);
  for (const Figure& figure : figures) CHECK(figure.caption.find("9 combinations") != std::string::npos);
  const std::vector<Figure> more = sweep_figures(
      predicted(R"({"/alpha": [0.5, 0.6, 0.7, 0.8], "/cost/c": [0, 0.1, 0.2], "/gamma": [1, 2, 3],
                    "/cost/c_hat": [0, 0.1, 0.2], "/seed": [1, 2, 3]})"));
  CHECK(more.size() == 6);
  for (const Figure& figure : more) CHECK(figure.caption.find("27 combinations") != std::string::npos);
}

TEST_CASE("kinds of one name and other parameters are curves of their own") {
  const Result result =
      run_of(parse_json(R"({"title": "t", "simulation": {"trials": 2, "length": 20, "batches": 2},
      "models": {"target": {"kind": "uniform", "vocab": 8}, "draft": {"kind": "uniform"}},
      "sweep": {"/gamma": [1, 2, 3], "/models/draft": [{"kind": "zipf", "exponent": 1}, {"kind": "zipf", "exponent": 2}]}})"))
          .result;
  const std::vector<Figure> figures = sweep_figures(result);
  REQUIRE(figures.size() == 1);
  std::set<std::string> names;
  for (const Series& series : figures[0].series) {
    CHECK(series.x == std::vector<double>{1, 2, 3});
    if (!series.name.empty()) names.insert(series.name);
  }
  CHECK(names.size() == 2);
}

TEST_CASE("a figure of chosen keys: every point is where Theorem 3.8 has it") {
  const Result result = predicted(R"({"/alpha": [0.5, 0.6, 0.7], "/cost/c": [0.01, 0.2], "/gamma": [1, 3]})");
  const std::vector<Figure> figures =
      chosen_figures(result, {.x = "c", .series = "/gamma", .where = {"alpha=0.60"}});
  REQUIRE(figures.size() == 1);
  REQUIRE(figures[0].series.size() == 2);
  for (const int gamma : {1, 3}) {
    const Series& curve = figures[0].series[gamma == 1 ? 0 : 1];
    CHECK(curve.x == std::vector<double>{0.01, 0.2});
    for (std::size_t i = 0; i < curve.x.size(); ++i)
      CHECK(curve.y[i] == doctest::Approx(speedup(0.6, gamma, curve.x[i])).epsilon(1e-12));
  }
  CHECK(chosen_figures(result, {.x = "c", .series = "gamma"}).size() == 3);
  // A key that is kept at one value leaves its place to the next.
  for (const char* kept : {"c=0.2", "gamma=3"}) {
    const std::vector<Figure> rest = chosen_figures(result, {.x = "alpha", .where = {kept}});
    REQUIRE(rest.size() == 1);
    CHECK(rest[0].series.size() == 2);
  }
  CHECK(chosen_figures(result, {.where = {"alpha=0.6", "c=0.2"}})[0].series[0].x ==
        std::vector<double>{1, 3});
  const std::vector<Figure> cells =
      chosen_figures(result, {.x = "alpha", .series = "cost_c", .where = {"gamma=3"}, .heat = true});
  REQUIRE(cells.size() == 1);
  REQUIRE(cells[0].heat);
  CHECK(cells[0].heat->z[1][2] == doctest::Approx(speedup(0.7, 3, 0.2)).epsilon(1e-12));
}

TEST_CASE("cases are told apart by their labels") {
  const Result result =
      run_of(parse_json(R"({"title": "t", "experiment": "predict", "sweep": {"/gamma": [1, 2, 3]},
      "cases": [{"label": "near", "set": {"/alpha": 0.9}}, {"label": "far", "set": {"/alpha": 0.5}}]})"))
          .result;
  const std::vector<Figure> figures = chosen_figures(result, {.x = "gamma", .series = "label"});
  REQUIRE(figures.size() == 1);
  REQUIRE(figures[0].series.size() == 2);
  CHECK(figures[0].series[0].name == "near");
  CHECK(chosen_figures(result, {.x = "gamma", .where = {"label=far"}})[0].series.size() == 1);
}

TEST_CASE("what cannot be drawn is refused with what there is") {
  const Result result =
      predicted(R"({"/alpha": [0.5, 0.6, 0.7], "/gamma": {"from": 1, "to": 20, "step": 1}})");
  const auto refusal = [&](const FigureChoice& choice) {
    try {
      chosen_figures(result, choice);
    } catch (const UsageError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  const auto says = [](const std::string& text, const char* words) {
    return text.find(words) != std::string::npos;
  };
  CHECK(says(refusal({.x = "beta"}), "there are alpha, gamma, label"));
  CHECK(says(refusal({.y = "spedup"}), "\"speedup\""));
  CHECK(says(refusal({.y = "regret"}), "no cell has it"));
  CHECK(says(refusal({.where = {"gamma=21"}}), "no cell has it; there are 1, 2, "));
  CHECK(says(refusal({.where = {"gamma"}}), "KEY=VALUE"));
  CHECK(says(refusal({.x = "alpha", .series = "gamma"}), "20 curves"));
  CHECK(says(refusal({.x = "alpha", .series = "label"}), "curves"));
}

#include "experiments/presentation/sweep_figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "experiments/report/cells.hpp"
#include "experiments/run/csv_values.hpp"
#include "experiments/run/experiment.hpp"

namespace speclab {

namespace {

constexpr std::size_t most_curves = 12;

/// The number that a cell sets at a path; none when it sets none, or something else.
std::optional<double> set_number(const CellResult& cell, const std::string& path) {
  const Json* value = set_value(cell, path);
  return value != nullptr && value->is_number() ? std::optional(value->get<double>()) : std::nullopt;
}

/// The value that a cell sets at a path, for people; none when it sets nothing there.
std::optional<std::string> set_text(const CellResult& cell, const std::string& path) {
  const Json* value = set_value(cell, path);
  if (value == nullptr) return std::nullopt;
  if (value->is_number()) return number_text(value->get<double>());
  // A kind with its parameters goes by its name.
  const auto kind = value->is_object() ? value->find("kind") : value->end();
  if (value->is_object() && kind != value->end() && kind->is_string()) return kind->get<std::string>();
  return value->is_string() ? value->get<std::string>() : value->dump();
}

/// "γ" for ".../gamma"; else the last name of the path.
std::string axis_label(const std::string& path) {
  static const std::map<std::string, std::string> symbols{{"alpha", "α"}, {"gamma", "γ"}, {"c_hat", "ĉ"}};
  const std::string name = path.substr(path.rfind('/') + 1);
  const auto found = symbols.find(name);
  return found == symbols.end() ? name : found->second;
}

/// The cells of one curve with their x, which increases.
struct Curve {
  std::string name;
  std::vector<std::pair<double, const CellResult*>> cells;
};

std::vector<Curve> curves_of(const std::vector<CellResult>& cells, const FigureConfig& config) {
  const std::string label = config.series_label.empty() ? axis_label(config.series) : config.series_label;
  std::vector<Curve> curves;
  for (const CellResult& cell : cells) {
    const std::optional<double> x = set_number(cell, config.x);
    if (!x) continue;
    const auto value = config.series.empty() ? std::nullopt : set_text(cell, config.series);
    const std::string name = value ? fmt::format("{} = {}", label, *value) : "";
    auto curve =
        std::find_if(curves.begin(), curves.end(), [&](const Curve& one) { return one.name == name; });
    if (curve == curves.end()) curve = curves.insert(curves.end(), {name, {}});
    curve->cells.emplace_back(*x, &cell);
  }
  for (Curve& curve : curves) {
    std::stable_sort(curve.cells.begin(), curve.cells.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
  }
  return curves;
}

/// Lines of the formula and points of the simulation.
Figure curves(const std::vector<CellResult>& cells, const FigureConfig& config) {
  Figure figure;
  for (const Curve& curve : curves_of(cells, config)) {
    Series line{.name = curve.name};
    Series points{.name = curve.name, .style = SeriesStyle::points};
    for (const auto& [x, cell] : curve.cells) {
      const double* formula = find(cell->formula, config.y);
      if (formula != nullptr && cell->formula_alpha != AlphaSource::measured) line.add(x, *formula);
      if (const Interval* simulated = find(cell->simulated, config.y)) points.add(x, *simulated);
    }
    const bool has_line = !line.x.empty();
    if (has_line) {
      if (line.name.empty()) line.name = "formula";
      figure.series.push_back(std::move(line));
    }
    if (points.x.empty()) continue;
    if (has_line) {
      points.colour_of = figure.series.size() - 1;
      points.name = curve.name.empty() ? "simulated" : "";
    }
    figure.series.push_back(std::move(points));
  }
  return figure;
}

Figure heat_map(const std::vector<CellResult>& cells, const FigureConfig& config) {
  std::map<double, std::map<double, double>> values;
  std::set<double> columns;
  for (const CellResult& cell : cells) {
    const std::optional<double> x = set_number(cell, config.x);
    const std::optional<double> y = set_number(cell, config.series);
    if (!x || !y) continue;
    const Interval* simulated = find(cell.simulated, config.y);
    const double* formula = find(cell.formula, config.y);
    values[*y][*x] = simulated != nullptr ? simulated->estimate
                     : formula != nullptr ? *formula
                                          : std::numeric_limits<double>::quiet_NaN();
    columns.insert(*x);
  }
  HeatMap heat;
  heat.x.assign(columns.begin(), columns.end());
  for (const auto& [y, row] : values) {
    heat.y.push_back(y);
    std::vector<double>& z = heat.z.emplace_back();
    for (const double x : heat.x)
      z.push_back(row.contains(x) ? row.at(x) : std::numeric_limits<double>::quiet_NaN());
  }
  heat.z_label = metric_label(config.y);
  heat.log_z = config.log_z;
  Figure figure;
  figure.heat = std::move(heat);
  figure.y_label = axis_label(config.series);
  return figure;
}

/// What to draw of a sweep that does not say: curves over its longest axis; a heat map for two long axes.
std::vector<FigureConfig> default_figures(const Config& config) {
  if (!config.sweep || config.sweep->size() > 2) return {};
  std::vector<std::pair<std::string, std::size_t>> axes;
  for (const auto& [path, axis] : *config.sweep)
    axes.emplace_back(path, axis->is_array() ? axis->size() : most_curves + 1);
  std::stable_sort(axes.begin(), axes.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  FigureConfig figure;
  figure.y = config.experiment->figure_metric();
  figure.title = metric_label(figure.y);
  figure.x = axes[0].first;
  if (axes.size() == 2) {
    figure.series = axes[1].first;
    if (axes[1].second > most_curves) figure.style = FigureStyle::heat_map;
  }
  return {figure};
}

bool drawn_as(const Figure& figure, SeriesStyle style) {
  return std::any_of(figure.series.begin(), figure.series.end(),
                     [&](const Series& series) { return series.style == style; });
}

/// Says what is drawn.
std::string caption_of(const Figure& figure) {
  if (figure.heat) return figure.title;
  std::string caption = figure.title + ".";
  if (drawn_as(figure, SeriesStyle::line)) caption += " Lines: formula.";
  if (drawn_as(figure, SeriesStyle::points))
    caption += " Points: simulation, with its interval where that is larger than the point.";
  return caption;
}

}  // namespace

std::vector<Figure> sweep_figures(const Result& result) {
  std::vector<Figure> figures;
  for (const FigureConfig& config : result.config.figures.value_or(default_figures(result.config))) {
    const bool heat = config.style == FigureStyle::heat_map;
    Figure figure = heat ? heat_map(result.cells, config) : curves(result.cells, config);
    if (figure.series.empty() && (!figure.heat || figure.heat->x.empty())) continue;
    figure.title = config.title;
    figure.x_label = config.x_label.empty() ? axis_label(config.x) : config.x_label;
    if (figure.y_label.empty()) figure.y_label = config.y_label;
    if (figure.y_label.empty()) figure.y_label = metric_label(config.y);
    figure.log_x = config.log_x;
    figure.log_y = config.log_y;
    figure.caption = caption_of(figure);
    figures.push_back(std::move(figure));
  }
  return figures;
}

}  // namespace speclab

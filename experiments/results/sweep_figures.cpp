// Draws figures of sweeps: curves and heat maps.

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "experiments/base/page/cells.hpp"
#include "experiments/results/metric_tables.hpp"
#include "experiments/results/presentation.hpp"
#include "experiments/results/result_rows.hpp"

namespace speclab {

namespace {

constexpr std::size_t max_curves = 12;
constexpr std::size_t max_facets = 6;

/// Returns the number that a cell sets at a path; empty if it sets none, or another type.
std::optional<double> set_number(const CellResult& cell, const std::string& path) {
  const Json* value = set_value(cell, path);
  return value != nullptr && value->is_number() ? std::optional(value->get<double>()) : std::nullopt;
}

/// Returns a kind with its parameters: "zipf exponent=1.2".
std::string kind_text(const Json& value) {
  constexpr std::size_t longest = 40;
  std::string text;
  for (const auto& [key, parameter] : value.items()) {
    if (key == "kind") {
      text = parameter.get<std::string>() + text;
    } else {
      text += fmt::format(" {}={}", key, shown(parameter));
    }
  }
  return text.size() <= longest ? text : text.substr(0, longest) + "...";
}

/// Returns the value that a cell sets at a path, for people; empty if it sets nothing there.
std::optional<std::string> set_text(const CellResult& cell, const std::string& path) {
  const Json* value = set_value(cell, path);
  if (value == nullptr) return std::nullopt;
  if (value->is_number()) return number_text(value->get<double>());
  const auto kind = value->is_object() ? value->find("kind") : value->end();
  if (kind != value->end() && kind->is_string()) return kind_text(*value);
  return value->is_string() ? value->get<std::string>() : value->dump();
}

/// Returns the value at a path as it was written; empty if the cell sets none.
std::string written(const CellResult& cell, const std::string& path) {
  const Json* value = path.empty() ? nullptr : set_value(cell, path);
  return value != nullptr ? value->dump() : "";
}

/// Returns "γ" for ".../gamma", and similar symbols; else the last name of the path.
std::string axis_label(const std::string& path) {
  static const std::map<std::string, std::string> symbols{{"alpha", "α"}, {"gamma", "γ"}, {"c_hat", "ĉ"}};
  const std::string name = path.substr(path.rfind('/') + 1);
  const auto found = symbols.find(name);
  return found == symbols.end() ? name : found->second;
}

using Cells = std::vector<const CellResult*>;

/// Groups the cells that have equal values at each of the paths; groups have the order of their first cells.
std::vector<Cells> groups_of(const Cells& cells, const std::vector<std::string>& paths) {
  std::vector<Cells> groups;
  std::map<std::vector<std::string>, std::size_t> index;
  for (const CellResult* cell : cells) {
    std::vector<std::string> key;
    for (const std::string& path : paths) key.push_back(written(*cell, path));
    const auto [at, fresh] = index.emplace(std::move(key), groups.size());
    if (fresh) groups.emplace_back();
    groups[at->second].push_back(cell);
  }
  return groups;
}

/// Draws lines of the formula and points of the simulation.
Figure curves(Cells cells, const FigureConfig& config) {
  std::erase_if(cells, [&](const CellResult* cell) { return !set_number(*cell, config.x); });
  const std::string label = config.series_label.empty() ? axis_label(config.series) : config.series_label;
  Figure figure;
  for (Cells& curve : groups_of(cells, {config.series})) {
    std::stable_sort(curve.begin(), curve.end(), [&](const CellResult* a, const CellResult* b) {
      return *set_number(*a, config.x) < *set_number(*b, config.x);
    });
    const auto value = config.series.empty() ? std::nullopt : set_text(*curve.front(), config.series);
    const std::string name = value ? fmt::format("{} = {}", label, *value) : "";
    Series line{.name = name};
    Series points{.name = name, .style = SeriesStyle::points};
    for (const CellResult* cell : curve) {
      const double x = *set_number(*cell, config.x);
      const double* formula = find(cell->formula, config.y);
      if (formula != nullptr && cell->formula_alpha != AlphaSource::measured) line.add(x, *formula);
      if (const Interval* simulated = find(cell->simulated, config.y)) points.add(x, *simulated);
    }
    const bool has_line = !line.x.empty();
    if (has_line) {
      if (name.empty()) line.name = "formula";
      figure.series.push_back(std::move(line));
    }
    if (points.x.empty()) continue;
    if (has_line) {
      // For a single curve, line and points have separate names and colours.
      points.name = name.empty() ? "simulated" : "";
      if (!name.empty()) points.colour_of = figure.series.size() - 1;
    }
    figure.series.push_back(std::move(points));
  }
  return figure;
}

Figure heat_map(const Cells& cells, const FigureConfig& config) {
  std::map<double, std::map<double, double>> values;
  std::set<double> columns;
  for (const CellResult* cell : cells) {
    const std::optional<double> x = set_number(*cell, config.x);
    const std::optional<double> y = set_number(*cell, config.series);
    // As with curves, a logarithmic axis cannot show values that are not positive.
    if (!x || !y || (config.log_x && !(*x > 0)) || (config.log_y && !(*y > 0))) continue;
    values[*y][*x] = estimate_of(*cell, config.y).value_or(std::numeric_limits<double>::quiet_NaN());
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

bool is_numeric(const Json& axis) {
  return axis.is_object() ||
         std::all_of(axis.begin(), axis.end(), [](const Json& value) { return value.is_number(); });
}

/// Returns the figures of a sweep whose config asks for none: curves over its longest numeric axis, one for
/// each value of the next longest; a heat map if both are long. Further axes become facets.
std::vector<FigureConfig> default_figures(const ShownConfig& config) {
  if (!config.sweep) return {};
  struct Axis {
    std::string path;
    std::size_t values;
    bool numeric;
  };
  std::vector<Axis> axes;
  for (const auto& [path, axis] : *config.sweep)
    axes.push_back({path, axis->is_array() ? axis->size() : max_curves + 1, is_numeric(*axis)});
  std::stable_sort(axes.begin(), axes.end(), [](const Axis& a, const Axis& b) {
    return std::pair(a.numeric, a.values) > std::pair(b.numeric, b.values);
  });
  if (!axes.front().numeric) return {};
  FigureConfig figure;
  figure.y = presentation_of(config).metrics.figure;
  figure.title = metric_label(figure.y);
  figure.x = axes.front().path;
  axes.erase(axes.begin());
  if (axes.empty()) return {figure};
  const auto second = std::max_element(axes.begin(), axes.end(),
                                       [](const Axis& a, const Axis& b) { return a.values < b.values; });
  figure.series = second->path;
  if (second->numeric && second->values > max_curves) figure.style = FigureStyle::heat_map;
  return {figure};
}

/// Returns the paths, other than the horizontal axis and the one that distinguishes curves, at which cells of
/// the same place in the figure differ: they would be drawn over one another.
std::vector<std::string> further_axes(const std::vector<CellResult>& cells, const FigureConfig& config) {
  std::map<std::pair<std::string, std::string>, const CellResult*> first_at;
  std::vector<std::string> further;
  for (const CellResult& cell : cells) {
    const auto [at, fresh] =
        first_at.emplace(std::pair(written(cell, config.x), written(cell, config.series)), &cell);
    if (fresh) continue;
    for (const auto& [path, value] : cell.set) {
      if (path == config.x || path == config.series || written(*at->second, path) == value->dump()) continue;
      if (std::find(further.begin(), further.end(), path) == further.end()) further.push_back(path);
    }
  }
  return further;
}

/// Returns the values that the cells of one figure share: "c = 0.05, γ = 3".
std::string values_text(const CellResult& cell, const std::vector<std::string>& axes) {
  std::string text;
  for (const std::string& path : axes)
    text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", axis_label(path),
                        set_text(cell, path).value_or("none"));
  return text;
}

/// Returns a caption that says what is drawn.
std::string caption_of(const Figure& figure) {
  const auto has = [&](SeriesStyle style) {
    return std::any_of(figure.series.begin(), figure.series.end(),
                       [&](const Series& series) { return series.style == style; });
  };
  std::string caption = has(SeriesStyle::line) ? "Lines: formula. " : "";
  if (has(SeriesStyle::points))
    caption += "Points: simulation, with its interval where that is larger than the point.";
  return caption;
}

}  // namespace

std::vector<Figure> sweep_figures(const Result& result) {
  Cells cells;
  for (const CellResult& cell : result.cells) cells.push_back(&cell);
  std::vector<Figure> figures;
  for (const FigureConfig& config : result.shown().figures.value_or(default_figures(result.shown()))) {
    const std::vector<std::string> further = further_axes(result.cells, config);
    const std::vector<Cells> facets = groups_of(cells, further);
    for (std::size_t i = 0; i < std::min(facets.size(), max_facets); ++i) {
      Figure figure =
          config.style == FigureStyle::heat_map ? heat_map(facets[i], config) : curves(facets[i], config);
      if (figure.series.empty() && (!figure.heat || figure.heat->x.empty())) continue;
      const std::string shared = values_text(*facets[i].front(), further);
      figure.title = shared.empty() ? config.title : fmt::format("{} ({})", config.title, shared);
      figure.x_label = config.x_label.empty() ? axis_label(config.x) : config.x_label;
      if (figure.y_label.empty()) figure.y_label = config.y_label;
      if (figure.y_label.empty()) figure.y_label = metric_label(config.y);
      figure.log_x = config.log_x;
      figure.log_y = config.log_y;
      figure.caption = caption_of(figure);
      if (facets.size() > max_facets) {
        figure.caption += fmt::format(" Figure {} of {}, of {} combinations of values; results.csv has all.",
                                      i + 1, max_facets, facets.size());
      }
      figures.push_back(std::move(figure));
    }
  }
  return figures;
}

}  // namespace speclab

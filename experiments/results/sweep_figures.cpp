// Draws figures of sweeps: curves and heat maps.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "experiments/base/format/named_entry.hpp"
#include "experiments/base/page/cells.hpp"
#include "experiments/results/metric_tables.hpp"
#include "experiments/results/presentation.hpp"
#include "experiments/results/result_rows.hpp"

namespace speclab {

namespace {

constexpr std::size_t max_curves = 12;
constexpr std::size_t max_facets = 6;

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

constexpr const char* label_key = "label";

/// Returns the value that a cell sets at a path, for readers; empty if it sets none.
std::optional<std::string> set_text(const CellResult& cell, const std::string& path) {
  if (path == label_key) return cell.label;
  const Json* value = set_value(cell, path);
  if (value == nullptr) return std::nullopt;
  if (value->is_number()) return number_text(value->get<double>());
  const auto kind = value->is_object() ? value->find("kind") : value->end();
  if (kind != value->end() && kind->is_string()) return kind_text(*value);
  return value->is_string() ? value->get<std::string>() : value->dump();
}

/// Returns the value at a path as it was written; empty if the cell sets none.
std::string written(const CellResult& cell, const std::string& path) {
  if (path == label_key) return cell.label;
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
    std::ranges::stable_sort(curve, [&](const CellResult* a, const CellResult* b) {
      return *set_number(*a, config.x) < *set_number(*b, config.x);
    });
    const auto value = config.series.empty() ? std::nullopt : set_text(*curve.front(), config.series);
    const std::string name = !value                       ? ""
                             : config.series == label_key ? *value
                                                          : fmt::format("{} = {}", label, *value);
    Series line{.name = name};
    Series points{.name = name, .style = SeriesStyle::points};
    for (const CellResult* cell : curve) {
      const double x = *set_number(*cell, config.x);
      const double* formula = find(cell->formula, config.y);
      if (formula != nullptr && cell->formula_alpha != AlphaSource::measured) line.add(x, *formula);
      if (const Interval* simulated = find(cell->simulated, config.y)) points.add(x, *simulated);
    }
    if (!line.x.empty()) {
      // For a single curve, line and points have separate names and colours.
      if (name.empty()) line.name = "formula";
      points.name = name.empty() ? "simulated" : "";
      if (!name.empty()) points.colour_of = figure.series.size();
      figure.series.push_back(std::move(line));
    }
    if (!points.x.empty()) figure.series.push_back(std::move(points));
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
  return {.y_label = axis_label(config.series), .heat = std::move(heat)};
}

/// Returns default figures of a sweep: curves over the longest numeric axis, one for each value of the next
/// longest, or a heat map if both are long. Further axes become facets.
std::vector<FigureConfig> default_figures(const ShownConfig& config) {
  if (!config.sweep) return {};
  struct Axis {
    std::string path;
    std::size_t values;
    bool numeric;
  };
  std::vector<Axis> axes;
  for (const auto& [path, axis] : *config.sweep) {
    const bool numeric = axis->is_object() || std::ranges::all_of(*axis, &Json::is_number);
    axes.push_back({path, axis->is_array() ? axis->size() : max_curves + 1, numeric});
  }
  std::ranges::stable_sort(axes, [](const Axis& a, const Axis& b) {
    return std::pair(a.numeric, a.values) > std::pair(b.numeric, b.values);
  });
  if (!axes.front().numeric) return {};
  FigureConfig figure;
  figure.y = presentation_of(config).metrics.figure;
  figure.title = metric_label(figure.y);
  figure.x = axes.front().path;
  axes.erase(axes.begin());
  if (axes.empty()) return {figure};
  const auto second = std::ranges::max_element(axes, {}, &Axis::values);
  figure.series = second->path;
  if (second->numeric && second->values > max_curves) figure.style = FigureStyle::heat_map;
  return {figure};
}

/// Returns the paths that differ between cells of one place in the figure, besides the horizontal axis and
/// the one of the curves: these cells would be drawn over one another.
std::vector<std::string> further_axes(const Cells& cells, const FigureConfig& config) {
  std::map<std::pair<std::string, std::string>, const CellResult*> first_at;
  std::vector<std::string> further;
  for (const CellResult* cell : cells) {
    const auto [at, fresh] =
        first_at.emplace(std::pair(written(*cell, config.x), written(*cell, config.series)), cell);
    if (fresh) continue;
    for (const auto& [path, value] : cell->set) {
      if (path == config.x || path == config.series || written(*at->second, path) == value->dump()) continue;
      if (std::ranges::find(further, path) == further.end()) further.push_back(path);
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

std::string caption_of(const Figure& figure) {
  const auto has = [&](SeriesStyle style) {
    return std::ranges::any_of(figure.series, [&](const Series& series) { return series.style == style; });
  };
  std::string caption = has(SeriesStyle::line) ? "Lines: formula. " : "";
  if (has(SeriesStyle::points))
    caption += "Points: simulation, with its interval where that is larger than the point.";
  return caption;
}

/// Returns a figure for each combination of the further axes' values, for the first `max`.
std::vector<Figure> figures_of_cells(const Cells& cells, const FigureConfig& config, std::size_t max) {
  std::vector<Figure> figures;
  const std::vector<std::string> further = further_axes(cells, config);
  const std::vector<Cells> facets = groups_of(cells, further);
  for (std::size_t i = 0; i < std::min(facets.size(), max); ++i) {
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
    if (facets.size() > max) {
      figure.caption += fmt::format(" Figure {} of {}, of {} combinations of values; results.csv has all.",
                                    i + 1, max, facets.size());
    }
    figures.push_back(std::move(figure));
  }
  return figures;
}

Cells pointers_to(const std::vector<CellResult>& all) {
  Cells cells;
  for (const CellResult& cell : all) cells.push_back(&cell);
  return cells;
}

std::vector<FigureConfig> configured_figures(const Result& result) {
  return result.shown().figures.value_or(default_figures(result.shown()));
}

/// Returns the path that a name means: a JSON pointer, a column of results.csv, or the last part of either.
/// Throws UsageError.
std::string key_named(const Result& result, const char* what, const std::string& name) {
  std::vector<std::string> keys = set_paths(result.cells);
  keys.emplace_back(label_key);
  std::vector<std::string> meant;
  std::vector<std::string> known;
  for (const std::string& key : keys) {
    const std::string last = key.substr(key.rfind('/') + 1);
    known.push_back(last);
    if (key == name || column_name(key) == name || last == name || axis_label(key) == name)
      meant.push_back(key);
  }
  if (meant.size() == 1) return meant.front();
  throw UsageError("{} {}: {}; there are {}", what, name,
                   meant.empty() ? "the cells set no such key" : "several keys end so, give the whole path",
                   fmt::join(meant.empty() ? known : meant, ", "));
}

/// Returns the cells that set a value, "c=0.05". Throws UsageError.
Cells cells_where(const Result& result, const Cells& cells, const std::string& condition) {
  const std::size_t equals = condition.find('=');
  if (equals == 0 || equals == std::string::npos)
    throw UsageError("where {}: expected KEY=VALUE, such as c=0.05", condition);
  const std::string key = key_named(result, "where", condition.substr(0, equals));
  const std::string value = condition.substr(equals + 1);
  const Json wanted = Json::parse(value, nullptr, false);
  Cells kept;
  std::vector<std::string> there;
  for (const CellResult* cell : cells) {
    const std::string text = set_text(*cell, key).value_or("none");
    const Json* const set = set_value(*cell, key);
    if (text == value || (set != nullptr && *set == wanted)) kept.push_back(cell);
    if (std::ranges::find(there, text) == there.end()) there.push_back(text);
  }
  if (kept.empty())
    throw UsageError("where {}: no cell has it; there are {}", condition, fmt::join(there, ", "));
  return kept;
}

}  // namespace

std::vector<Figure> sweep_figures(const Result& result) {
  std::vector<Figure> figures;
  for (const FigureConfig& config : configured_figures(result)) {
    for (Figure& figure : figures_of_cells(pointers_to(result.cells), config, max_facets))
      figures.push_back(std::move(figure));
  }
  return figures;
}

std::vector<Figure> chosen_figures(const Result& result, const FigureChoice& choice) {
  FigureConfig config;
  config.y = presentation_of(result.shown()).metrics.figure;
  if (const auto own = configured_figures(result); !own.empty()) {
    config.x = own.front().x;
    config.y = own.front().y;
    config.series = own.front().series;
    config.style = own.front().style;
  }
  if (!choice.y.empty()) {
    const auto metric = metric_named(choice.y);
    if (!metric)
      throw UsageError("y {}: no such metric{}", choice.y, suggestion(choice.y, entry_names(metric_infos())));
    config.y = *metric;
  }
  if (!choice.x.empty() || !choice.series.empty()) config.style = FigureStyle::curves;
  if (!choice.x.empty()) config.x = key_named(result, "x", choice.x);
  if (!choice.series.empty()) config.series = key_named(result, "series", choice.series);
  if (config.series == config.x) (choice.series.empty() ? config.series : config.x).clear();
  Cells cells = pointers_to(result.cells);
  for (const std::string& condition : choice.where) cells = cells_where(result, cells, condition);
  // A key with one value left shows nothing; the next key that differs replaces it.
  const auto has_one_value = [&](const std::string& key) { return groups_of(cells, {key}).size() == 1; };
  if (choice.x.empty() && has_one_value(config.x)) {
    config.x.clear();
    if (choice.series.empty()) config.series.clear();
    for (const std::string& key : further_axes(cells, config)) {
      if (config.x.empty() && set_number(*cells.front(), key)) config.x = key;
    }
  }
  if (choice.series.empty() && has_one_value(config.series)) {
    config.series.clear();
    if (const auto others = further_axes(cells, config); !others.empty()) config.series = others.front();
  }
  if (choice.heat) config.style = FigureStyle::heat_map;
  if (config.x.empty() || (choice.heat && config.series.empty())) {
    throw UsageError("{}: nothing that the cells set is there by itself; name one of {}",
                     config.x.empty() ? "x" : "series", fmt::join(set_paths(result.cells), ", "));
  }
  config.log_x = choice.log_x;
  config.log_y = choice.log_y;
  config.log_z = choice.log_z;
  const std::vector<std::string> further = further_axes(cells, config);
  if (const std::size_t count = groups_of(cells, further).size(); count > max_curves) {
    throw UsageError("{} figures, one for each combination of {}; where KEY=VALUE keeps one value", count,
                     fmt::join(further, ", "));
  }
  std::vector<Figure> figures = figures_of_cells(cells, config, max_curves);
  if (figures.empty()) throw UsageError("y {}: no cell has it at a number of x", metric_name(config.y));
  for (const Figure& figure : figures) {
    const auto curves_of =
        std::ranges::count_if(figure.series, [](const Series& one) { return !one.colour_of; });
    if (static_cast<std::size_t>(curves_of) <= max_curves) continue;
    throw UsageError(
        "{} curves cannot be told apart; where KEY=VALUE keeps one value, and a heat map has a cell for each",
        curves_of);
  }
  return figures;
}

}  // namespace speclab

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "experiments/calibration_report.hpp"
#include "experiments/compare/comparison_report.hpp"
#include "experiments/metrics.hpp"
#include "experiments/presentation.hpp"
#include "experiments/schedule_report.hpp"
#include "experiments/verifier_judgement.hpp"

namespace speclab {

namespace {

constexpr std::size_t most_curves = 12;
constexpr std::size_t most_categories = 60;
constexpr double nothing = std::numeric_limits<double>::quiet_NaN();

std::string last_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

std::string axis_label(const std::string& path) {
  static const std::map<std::string, std::string> symbols{{"alpha", "α"}, {"gamma", "γ"}, {"c_hat", "ĉ"}};
  const auto found = symbols.find(last_name(path));
  return found == symbols.end() ? last_name(path) : found->second;
}

std::string value_text(const Json& value) {
  if (value.is_number()) return number_text(value.get<double>());
  if (value.is_object() && value.contains("kind")) return value.at("kind").get<std::string>();
  return value.is_string() ? value.get<std::string>() : value.dump();
}

/// The number of one cell: simulated [estimate, low, high] or formula, as asked.
Json number_of(const Json& cell, const char* kind, const std::string& metric) {
  return cell.contains(kind) ? cell.at(kind).value(metric, Json()) : Json();
}

double as_double(const Json& value) { return value.is_number() ? value.get<double>() : nothing; }

Figure curves(const Json& cells, const Json& spec) {
  const auto x_path = spec.at("x").get<std::string>();
  const auto metric = spec.at("y").get<std::string>();
  const auto series_path = spec.at("series").get<std::string>();
  std::string series_label = spec.at("series_label").get<std::string>();
  if (series_label.empty()) series_label = axis_label(series_path);

  std::vector<std::pair<std::string, std::vector<const Json*>>> groups;
  for (const Json& cell : cells) {
    if (!cell.at("set").contains(x_path) || !cell.at("set").at(x_path).is_number()) continue;
    std::string name;
    if (!series_path.empty() && cell.at("set").contains(series_path)) {
      name = fmt::format("{} = {}", series_label, value_text(cell.at("set").at(series_path)));
    }
    auto group = std::find_if(groups.begin(), groups.end(), [&](const auto& g) { return g.first == name; });
    if (group == groups.end()) group = groups.insert(groups.end(), {name, {}});
    group->second.push_back(&cell);
  }

  Figure figure;
  for (auto& [name, members] : groups) {
    std::stable_sort(members.begin(), members.end(), [&](const Json* a, const Json* b) {
      return a->at("set").at(x_path).get<double>() < b->at("set").at(x_path).get<double>();
    });
    Series line{
        .name = name, .style = SeriesStyle::line, .x = {}, .y = {}, .low = {}, .high = {}, .colour_of = {}};
    Series points = line;
    points.style = SeriesStyle::points;
    for (const Json* cell : members) {
      const double x = cell->at("set").at(x_path).get<double>();
      const Json computed = number_of(*cell, "formula", metric);
      if (computed.is_number() && cell->value("formula_alpha", "") != "measured") {
        line.x.push_back(x);
        line.y.push_back(computed.get<double>());
      }
      const Json simulated = number_of(*cell, "simulated", metric);
      if (!simulated.is_array()) continue;
      points.x.push_back(x);
      points.y.push_back(as_double(simulated[0]));
      points.low.push_back(as_double(simulated[1]));
      points.high.push_back(as_double(simulated[2]));
    }
    const bool has_line = !line.x.empty();
    if (has_line) {
      if (line.name.empty()) line.name = "formula";
      figure.series.push_back(std::move(line));
    }
    if (points.x.empty()) continue;
    if (has_line) {
      points.colour_of = figure.series.size() - 1;
      points.name = name.empty() ? "simulated" : "";
    }
    figure.series.push_back(std::move(points));
  }
  return figure;
}

Figure heat_map(const Json& cells, const Json& spec) {
  const auto x_path = spec.at("x").get<std::string>();
  const auto y_path = spec.at("series").get<std::string>();
  const auto metric = spec.at("y").get<std::string>();
  std::map<double, std::map<double, double>> values;
  std::set<double> columns;
  for (const Json& cell : cells) {
    const Json& set = cell.at("set");
    if (!set.contains(x_path) || !set.contains(y_path)) continue;
    if (!set.at(x_path).is_number() || !set.at(y_path).is_number()) continue;
    const Json simulated = number_of(cell, "simulated", metric);
    const double z =
        simulated.is_array() ? as_double(simulated[0]) : as_double(number_of(cell, "formula", metric));
    values[set.at(y_path).get<double>()][set.at(x_path).get<double>()] = z;
    columns.insert(set.at(x_path).get<double>());
  }
  HeatMap heat;
  heat.x.assign(columns.begin(), columns.end());
  for (const auto& [y, row] : values) {
    heat.y.push_back(y);
    std::vector<double>& z = heat.z.emplace_back();
    for (const double x : heat.x) z.push_back(row.contains(x) ? row.at(x) : nothing);
  }
  heat.z_label = metric_label(metric);
  heat.log_z = spec.at("log_z").get<bool>();
  Figure figure;
  figure.heat = std::move(heat);
  figure.y_label = axis_label(y_path);
  return figure;
}

/// What to draw of a sweep that does not say: curves over its longest axis; a heat map for two long axes.
Json default_figures(const Json& config) {
  Json figures = Json::array();
  if (!config.contains("sweep") || config.at("sweep").size() > 2) return figures;
  std::vector<std::pair<std::string, std::size_t>> axes;
  for (const auto& [path, axis] : config.at("sweep").items()) {
    axes.emplace_back(path, axis.is_array() ? axis.size() : most_curves + 1);
  }
  std::stable_sort(axes.begin(), axes.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  const bool measures_alpha = config.at("experiment") == "acceptance";
  const bool searches = config.at("experiment") == "optimal_gamma";
  const std::string metric = measures_alpha ? "alpha_overlap" : searches ? "optimal_gamma" : "speed";
  Json figure{{"title", metric_label(metric)},
              {"x", axes[0].first},
              {"y", metric},
              {"series", ""},
              {"style", "curves"},
              {"x_label", ""},
              {"y_label", ""},
              {"series_label", ""},
              {"log_x", false},
              {"log_y", false},
              {"log_z", false}};
  if (axes.size() == 2) {
    figure["series"] = axes[1].first;
    if (axes[1].second > most_curves) figure["style"] = "heat_map";
  }
  figures.push_back(figure);
  return figures;
}

/// Timelines of the recorded rounds, in target runs (Leviathan et al. 2023, Figure 5).
Figure timeline(const Json& cell) {
  Figure figure;
  for (const Json& trace : cell.at("traces")) {
    const auto gamma = trace.at("gamma").get<int>();
    const auto c = trace.at("c").get<double>();
    TraceRow row;
    row.label = gamma == 0 ? "plain" : fmt::format("γ = {}", gamma);
    double now = 0;
    for (std::size_t round = 0; round < trace.at("rounds").size(); ++round) {
      for (int i = 0; i < gamma && c > 0; ++i) {
        row.blocks.push_back({now, now + c, "draft run"});
        now += c;
      }
      row.blocks.push_back({now, now + 1, "target run"});
      now += 1;
    }
    figure.trace.push_back(std::move(row));
  }
  figure.x_label = "time, in target runs";
  return figure;
}

}  // namespace

std::vector<Figure> result_figures(const Json& result, const std::string& id, const std::string& command) {
  const Json& config = result.at("config");
  std::vector<Figure> figures;
  // These have several rows for each value of a sweep, and figures of their own.
  const bool schedules = config.at("experiment") == "schedules";
  const bool compares = config.at("experiment") == "compare";
  if (schedules) figures = schedule_figures(result);
  if (compares) figures = comparison_figures(result);
  const Json asked = schedules || compares        ? Json::array()
                     : config.contains("figures") ? config.at("figures")
                                                  : default_figures(config);
  for (const Json& spec : asked) {
    const bool heat = spec.at("style") == "heat_map";
    Figure figure = heat ? heat_map(result.at("cells"), spec) : curves(result.at("cells"), spec);
    if (figure.series.empty() && (!figure.heat || figure.heat->x.empty())) continue;
    figure.title = spec.at("title").get<std::string>();
    figure.x_label = spec.at("x_label").get<std::string>();
    if (figure.x_label.empty()) figure.x_label = axis_label(spec.at("x").get<std::string>());
    if (figure.y_label.empty()) figure.y_label = spec.at("y_label").get<std::string>();
    if (figure.y_label.empty()) figure.y_label = metric_label(spec.at("y").get<std::string>());
    figure.log_x = spec.at("log_x").get<bool>();
    figure.log_y = spec.at("log_y").get<bool>();
    figure.caption = heat ? figure.title
                          : figure.title +
                                ". Lines: formula. Points: simulation, with its interval where that is "
                                "larger than the point.";
    figures.push_back(std::move(figure));
  }
  const bool compares_rules = config.at("experiment") == "verifiers" && !config.contains("figures") &&
                              !config.contains("sweep") && result.at("cells").size() <= most_categories;
  if (compares_rules) {
    Figure figure = rules_figure(result.at("cells"));
    if (!figure.categories.empty()) figures.push_back(std::move(figure));
  }
  for (const Json& cell : result.at("cells")) {
    if (!cell.contains("traces") || !config.at("trace").at("timeline").get<bool>()) continue;
    figures.push_back(timeline(cell));
    figures.back().title = result.at("title").get<std::string>();
    figures.back().caption =
        "Timelines drawn from recorded rounds that generate at least the same number of tokens: each draft "
        "run takes c, each target run 1.";
  }
  for (const Json& cell : result.at("cells")) {
    if (!cell.contains("calibration")) continue;
    for (Figure& figure : calibration_figures(cell.at("calibration"), cell.at("label").get<std::string>())) {
      figures.push_back(std::move(figure));
    }
  }
  for (std::size_t i = 0; i < figures.size(); ++i) {
    figures[i].id = fmt::format("{}-figure-{}", id, i + 1);
    figures[i].command = command;
  }
  return figures;
}

}  // namespace speclab

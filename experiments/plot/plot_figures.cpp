#include "experiments/plot/plot_figures.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "experiments/format/config_error.hpp"
#include "experiments/plot/column_view.hpp"
#include "experiments/plot/plot_plan.hpp"
#include "experiments/results/presentation.hpp"
#include "experiments/run/experiment.hpp"

namespace speclab {

namespace {

constexpr std::size_t most_panels = 12;
constexpr std::size_t most_boxes = 60;

void add_value(Series& series, const ColumnView& table, std::size_t row, double x, const ValueColumn& value) {
  const double y = table.number(row, value.column);
  if (!value.low) return series.add(x, y);
  const double low = table.number(row, *value.low);
  const double high = table.number(row, *value.high);
  series.add(x, Interval{y, low, high});
}

SeriesStyle style_of_value(const ValueColumn& value) {
  return value.role == "formula" ? SeriesStyle::line : SeriesStyle::points;
}

bool empty_value(const ColumnView& table, const std::vector<std::size_t>& rows, const ValueColumn& value) {
  return std::all_of(rows.begin(), rows.end(),
                     [&](std::size_t row) { return table.text(row, value.column).empty(); });
}

std::vector<RowGroup> series_of(const ColumnView& table, const PlotPlan& plan,
                                const std::vector<std::size_t>& rows) {
  std::vector<RowGroup> groups = grouped_rows(table, rows, plan.color);
  if (groups.size() <= most_series) return groups;
  throw UsageError(
      fmt::format("--color: {} series cannot be told apart; --where leaves some out, --facet draws panels, "
                  "--kind heat cells",
                  groups.size()));
}

/// Values over x, a series for each colour and role.
Figure line_figure(const ColumnView& table, const PlotPlan& plan, const std::vector<std::size_t>& rows) {
  Figure figure;
  const bool numeric = table.numeric(plan.rows, plan.x);
  if (!numeric) {
    for (const std::string& name : table.values(plan.rows, plan.x))
      figure.categories.push_back(shown_value(name));
  }
  const std::vector<std::string> names = table.values(plan.rows, plan.x);
  const std::vector<RowGroup> groups = series_of(table, plan, rows);
  for (const RowGroup& group : groups) {
    std::optional<std::size_t> first;
    for (const ValueColumn& value : plan.values) {
      if (empty_value(table, group.rows, value)) continue;
      std::vector<std::pair<double, std::size_t>> places;
      for (const std::size_t row : group.rows) {
        const double x =
            numeric ? table.number(row, plan.x)
                    : static_cast<double>(std::find(names.begin(), names.end(), table.text(row, plan.x)) -
                                          names.begin());
        if (std::isfinite(x) && !table.text(row, value.column).empty()) places.emplace_back(x, row);
      }
      std::stable_sort(places.begin(), places.end(),
                       [](const auto& a, const auto& b) { return a.first < b.first; });
      const std::string name =
          group.name.empty() ? (value.role.empty() ? value_label(plan.value) : value.role) : group.name;
      Series series{.name = name, .style = style_of_value(value)};
      if (!numeric && series.style == SeriesStyle::line) series.style = SeriesStyle::levels;
      if (value.role == "printed") series.name = group.name.empty() ? "printed" : group.name + ", printed";
      for (const auto& [x, row] : places) add_value(series, table, row, x, value);
      // Formula and simulation of one colour are one entry of the legend.
      if (first && !group.name.empty() && value.role != "printed") {
        series.name.clear();
        series.colour_of = first;
      }
      if (!first) first = figure.series.size();
      // A plain column without intervals is a curve through its points.
      const bool curve = value.role.empty() && numeric && series.low.empty();
      figure.series.push_back(series);
      if (!curve) continue;
      Series line = series;
      line.name.clear();
      line.style = SeriesStyle::line;
      line.colour_of = figure.series.size() - 1;
      figure.series.push_back(std::move(line));
    }
  }
  figure.x_label = axis_name(table, plan.x);
  figure.y_label = value_label(plan.value);
  return figure;
}

constexpr const char* formula_and_simulation = "points: simulated, lines: formula";

/// Curves of plain columns have points of their own, which need no explanation.
std::string legend_note(const PlotPlan& plan) {
  const auto has = [&](const char* role) {
    return std::any_of(plan.values.begin(), plan.values.end(),
                       [&](const ValueColumn& value) { return value.role == role; });
  };
  return has("formula") && has("simulated") ? formula_and_simulation : "";
}

const ValueColumn& measured_value(const PlotPlan& plan) {
  for (const ValueColumn& value : plan.values) {
    if (value.role == "simulated") return value;
  }
  return plan.values.front();
}

Figure heat_figure(const ColumnView& table, const PlotPlan& plan, const std::vector<std::size_t>& rows,
                   bool log_color) {
  const ValueColumn& value = measured_value(plan);
  HeatMap heat;
  std::map<std::pair<double, double>, double> cells;
  std::set<double> xs;
  std::set<double> ys;
  for (const std::size_t row : rows) {
    const double x = table.number(row, plan.x);
    const double y = table.number(row, *plan.up);
    if (!std::isfinite(x) || !std::isfinite(y)) continue;
    xs.insert(x);
    ys.insert(y);
    cells[{y, x}] = table.number(row, value.column);
  }
  heat.x.assign(xs.begin(), xs.end());
  heat.y.assign(ys.begin(), ys.end());
  for (const double y : heat.y) {
    std::vector<double>& z = heat.z.emplace_back();
    for (const double x : heat.x) {
      const auto found = cells.find({y, x});
      z.push_back(found == cells.end() ? std::nan("") : found->second);
    }
  }
  heat.z_label = value_label(plan.value);
  heat.log_z = log_color;
  Figure figure;
  figure.heat = std::move(heat);
  figure.x_label = axis_name(table, plan.x);
  figure.y_label = axis_name(table, *plan.up);
  return figure;
}

double quantile(const std::vector<double>& sorted, double share) {
  const double at = share * static_cast<double>(sorted.size() - 1);
  const auto low = static_cast<std::size_t>(at);
  const std::size_t high = std::min(low + 1, sorted.size() - 1);
  return sorted[low] + (at - static_cast<double>(low)) * (sorted[high] - sorted[low]);
}

std::vector<double> sorted_values(const ColumnView& table, const std::vector<std::size_t>& rows,
                                  std::size_t column) {
  std::vector<double> values;
  for (const std::size_t row : rows) {
    if (const double value = table.number(row, column); std::isfinite(value)) values.push_back(value);
  }
  std::sort(values.begin(), values.end());
  return values;
}

Panel box_panel(const ColumnView& table, const PlotPlan& plan, const std::vector<std::size_t>& rows) {
  const std::size_t column = measured_value(plan).column;
  Panel panel;
  const std::vector<std::string> names = table.values(plan.rows, plan.x);
  if (names.size() > most_boxes)
    throw UsageError(fmt::format("--x {}: {} boxes; at most {} can be read", table.columns()[plan.x],
                                 names.size(), most_boxes));
  for (const std::string& name : names) panel.figure.categories.push_back(shown_value(name));
  for (const RowGroup& group : series_of(table, plan, rows)) {
    BoxSeries series{group.name, {}};
    for (std::size_t i = 0; i < names.size(); ++i) {
      std::vector<std::size_t> at;
      for (const std::size_t row : group.rows) {
        if (table.text(row, plan.x) == names[i]) at.push_back(row);
      }
      const std::vector<double> values = sorted_values(table, at, column);
      if (values.empty()) continue;
      series.boxes.push_back({static_cast<double>(i), values.front(), quantile(values, 0.25),
                              quantile(values, 0.5), quantile(values, 0.75), values.back()});
    }
    if (!series.boxes.empty()) panel.boxes.push_back(std::move(series));
  }
  panel.figure.x_label = axis_name(table, plan.x);
  panel.figure.y_label = value_label(plan.value);
  return panel;
}

Figure ecdf_figure(const ColumnView& table, const PlotPlan& plan, const std::vector<std::size_t>& rows) {
  Figure figure;
  for (const RowGroup& group : series_of(table, plan, rows)) {
    const std::vector<double> values = sorted_values(table, group.rows, measured_value(plan).column);
    if (values.empty()) continue;
    Series series{.name = group.name, .style = SeriesStyle::steps};
    series.add(values.front(), 0);
    for (std::size_t i = 0; i < values.size(); ++i)
      series.add(values[i], static_cast<double>(i + 1) / static_cast<double>(values.size()));
    figure.series.push_back(std::move(series));
  }
  figure.x_label = value_label(plan.value);
  figure.y_label = "share of rows up to it";
  figure.y_range = AxisRange{0, 1};
  return figure;
}

}  // namespace

std::vector<Panel> plot_panels(const PlotTable& source, const PlotRequest& request) {
  const ColumnView table(source);
  const PlotPlan plan = plan_of(table, request);
  const std::vector<RowGroup> groups = grouped_rows(table, plan.rows, plan.facet);
  if (groups.size() > most_panels) {
    std::vector<std::string> names;
    for (const std::size_t column : plan.facet) names.push_back(table.columns()[column]);
    throw UsageError(
        fmt::format("--facet: {} panels of {} are more than {}; --where NAME=VALUE keeps one value, --kind "
                    "box or ecdf draws "
                    "distributions",
                    groups.size(), fmt::join(names, ", "), most_panels));
  }
  std::vector<Panel> panels;
  for (const RowGroup& group : groups) {
    Panel panel;
    switch (plan.kind) {
      case PlotKind::line:
        panel.figure = line_figure(table, plan, group.rows);
        panel.legend_note = legend_note(plan);
        break;
      case PlotKind::heat:
        panel.figure = heat_figure(table, plan, group.rows, request.log_color);
        break;
      case PlotKind::box:
        panel = box_panel(table, plan, group.rows);
        break;
      case PlotKind::ecdf:
        panel.figure = ecdf_figure(table, plan, group.rows);
        break;
    }
    panel.figure.id = "plot";
    panel.figure.title = group.name;
    panel.figure.log_x = request.log_x && panel.figure.categories.empty();
    panel.figure.log_y = request.log_y;
    const bool something = !panel.boxes.empty() || (panel.figure.heat && !panel.figure.heat->x.empty()) ||
                           std::any_of(panel.figure.series.begin(), panel.figure.series.end(),
                                       [](const Series& series) { return !series.x.empty(); });
    if (something) panels.push_back(std::move(panel));
  }
  if (panels.empty()) throw UsageError("nothing to draw: the rows have no such values");
  return panels;
}

std::vector<Panel> own_figures(const PlotSource& source) {
  std::vector<Panel> panels;
  if (!source.result) return panels;
  const RunResult& run = *source.result;
  for (Figure& figure : figures_of(run.result, run.timings)) {
    figure.id = "plot";
    panels.push_back({.figure = std::move(figure), .legend_note = formula_and_simulation});
  }
  return panels;
}

}  // namespace speclab
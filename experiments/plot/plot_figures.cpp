#include "experiments/plot/plot_figures.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "experiments/config/config_error.hpp"
#include "experiments/config/metric.hpp"
#include "experiments/report/cells.hpp"
#include "experiments/run/experiment.hpp"
#include "experiments/support/csv_reader.hpp"

namespace speclab {

namespace {

constexpr std::size_t most_panels = 12;
constexpr std::size_t most_series = 12;
constexpr std::size_t most_boxes = 60;

std::string last_part(const std::string& column) { return column.substr(column.rfind('/') + 1); }

/// "γ" for a column ".../gamma"; else its last part.
std::string column_symbol(const std::string& column) {
  static const std::map<std::string, std::string> symbols{{"alpha", "α"}, {"gamma", "γ"}, {"c_hat", "ĉ"}};
  const auto found = symbols.find(last_part(column));
  return found == symbols.end() ? last_part(column) : found->second;
}

/// Columns that say which row it is, and not what was set.
bool describes_row(const std::string& column) {
  static const std::set<std::string> names{"label", "case",       "verdict", "version",
                                           "title", "experiment", "unit",    "units"};
  return names.contains(column) || column.find("sha256") != std::string::npos ||
         column.find("hash") != std::string::npos;
}

constexpr std::string_view roles[] = {"printed_", "formula_", "simulated_"};

std::string without_role(const std::string& column) {
  for (const std::string_view role : roles) {
    if (column.starts_with(role)) return column.substr(role.size());
  }
  return column;
}

class ColumnView;
std::string known_names(const ColumnView& table);

class ColumnView {
 public:
  explicit ColumnView(const PlotTable& table) : table_(table) {}

  const std::vector<std::string>& columns() const { return table_.columns; }

  std::optional<std::size_t> index(const std::string& name) const {
    const auto& all = table_.columns;
    const auto exact = std::find(all.begin(), all.end(), name);
    if (exact != all.end()) return static_cast<std::size_t>(exact - all.begin());
    std::vector<std::size_t> ending;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (last_part(all[i]) == name || column_symbol(all[i]) == name) ending.push_back(i);
    }
    return ending.size() == 1 ? std::optional(ending.front()) : std::nullopt;
  }

  std::size_t known(const char* option, const std::string& name) const {
    if (const auto found = index(name)) return *found;
    throw UsageError(fmt::format("{} {}: no such column; there are {}", option, name, known_names(*this)));
  }

  const std::string& text(std::size_t row, std::size_t column) const { return table_.rows[row][column]; }
  double number(std::size_t row, std::size_t column) const {
    return number_in(text(row, column)).value_or(std::nan(""));
  }

  /// Only numbers and empty fields, and some number.
  bool numeric(const std::vector<std::size_t>& rows, std::size_t column) const {
    bool any = false;
    for (const std::size_t row : rows) {
      if (text(row, column).empty()) continue;
      if (!number_in(text(row, column))) return false;
      any = true;
    }
    return any;
  }

  void require_numbers(const char* option, const std::vector<std::size_t>& rows, std::size_t column) const {
    if (numeric(rows, column)) return;
    for (const std::size_t row : rows) {
      if (text(row, column).empty() || number_in(text(row, column))) continue;
      throw UsageError(
          fmt::format("{} {}: \"{}\" is not a number", option, columns()[column], text(row, column)));
    }
    throw UsageError(fmt::format("{} {}: no numbers in these rows", option, columns()[column]));
  }

  /// In order of size for numbers, of appearance else.
  std::vector<std::string> values(const std::vector<std::size_t>& rows, std::size_t column) const {
    std::vector<std::string> all;
    for (const std::size_t row : rows) {
      if (std::find(all.begin(), all.end(), text(row, column)) == all.end()) all.push_back(text(row, column));
    }
    if (numeric(rows, column)) {
      std::stable_sort(all.begin(), all.end(), [](const std::string& a, const std::string& b) {
        const double lowest = -std::numeric_limits<double>::infinity();
        return number_in(a).value_or(lowest) < number_in(b).value_or(lowest);
      });
    }
    return all;
  }

  /// Rows that every --where agrees to.
  std::vector<std::size_t> rows_where(
      const std::vector<std::pair<std::string, std::string>>& conditions) const {
    std::vector<std::size_t> rows(table_.rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = i;
    for (const auto& [name, value] : conditions) {
      const std::size_t column = known("--where", name);
      const auto wanted = number_in(value);
      const std::vector<std::string> there = values(rows, column);
      std::erase_if(rows, [&](std::size_t row) {
        const auto have = number_in(text(row, column));
        if (wanted && have) return std::abs(*have - *wanted) > 1e-9 * std::max(std::abs(*wanted), 1e-300);
        return text(row, column) != value;
      });
      if (!rows.empty()) continue;
      constexpr std::size_t most_named = 20;
      std::vector<std::string> named(
          there.begin(), there.begin() + static_cast<std::ptrdiff_t>(std::min(there.size(), most_named)));
      throw UsageError(fmt::format("--where {}={}: no row has it; there are {}{}", name, value,
                                   fmt::join(named, ", "), there.size() > most_named ? ", ..." : ""));
    }
    return rows;
  }

 private:
  const PlotTable& table_;
};

/// A column of values with those of its interval.
struct ValueColumn {
  std::size_t column;
  std::optional<std::size_t> low;
  std::optional<std::size_t> high;
  std::string role;  ///< "formula", "simulated", "printed"; empty for a column without
};

ValueColumn value_column(const ColumnView& table, std::size_t column) {
  const std::string& name = table.columns()[column];
  ValueColumn value{column, {}, {}, ""};
  for (const std::string_view role : roles) {
    if (name.starts_with(role)) value.role = role.substr(0, role.size() - 1);
  }
  const auto exact = [&](const std::string& wanted) -> std::optional<std::size_t> {
    const auto found = std::find(table.columns().begin(), table.columns().end(), wanted);
    if (found == table.columns().end()) return std::nullopt;
    return static_cast<std::size_t>(found - table.columns().begin());
  };
  value.low = exact(name + "_low");
  value.high = exact(name + "_high");
  if (!value.low || !value.high) value.low = value.high = std::nullopt;
  return value;
}

/// The columns of a value's name: itself, or what was simulated, computed and printed of it.
std::vector<ValueColumn> value_columns(const ColumnView& table, const std::string& name) {
  const auto exact = std::find(table.columns().begin(), table.columns().end(), name);
  if (exact != table.columns().end())
    return {value_column(table, static_cast<std::size_t>(exact - table.columns().begin()))};
  std::vector<ValueColumn> all;
  for (const char* role : {"formula_", "simulated_", "printed_"}) {
    const auto found = std::find(table.columns().begin(), table.columns().end(), role + name);
    if (found != table.columns().end())
      all.push_back(value_column(table, static_cast<std::size_t>(found - table.columns().begin())));
  }
  if (!all.empty()) return all;
  return {value_column(table, table.known("--y", name))};
}

bool is_bound(const ColumnView& table, const std::string& column) {
  for (const std::string_view end : {"_low", "_high"}) {
    if (!column.ends_with(end)) continue;
    const std::string base = column.substr(0, column.size() - end.size());
    if (std::find(table.columns().begin(), table.columns().end(), base) != table.columns().end()) return true;
  }
  return false;
}

/// The value to draw when nobody says: a metric that experiments draw, else the last column of numbers.
std::string default_value(const ColumnView& table, const std::vector<std::size_t>& rows) {
  for (const char* name :
       {"speedup", "best_speedup", "tokens_per_target_step", "first_token_acceptance", "alpha_overlap"}) {
    for (const std::string_view role : {"", "simulated_", "formula_"}) {
      const auto found = std::find(table.columns().begin(), table.columns().end(), std::string(role) + name);
      if (found != table.columns().end() &&
          table.numeric(rows, static_cast<std::size_t>(found - table.columns().begin())))
        return role.empty() ? *found : name;
    }
  }
  for (const char* role : {"simulated_", "formula_"}) {
    for (const std::string& column : table.columns()) {
      if (column.starts_with(role) && !is_bound(table, column)) return without_role(column);
    }
  }
  for (std::size_t i = table.columns().size(); i-- > 0;) {
    if (!is_bound(table, table.columns()[i]) && table.numeric(rows, i)) return table.columns()[i];
  }
  throw UsageError(fmt::format("--y: no column of numbers; there are {}", known_names(table)));
}

/// Names for a message: of a value's columns one.
std::string known_names(const ColumnView& table) {
  std::vector<std::string> names;
  for (const std::string& column : table.columns()) {
    const std::string name = without_role(column);
    if (!is_bound(table, column) && std::find(names.begin(), names.end(), name) == names.end())
      names.push_back(name);
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

/// Columns that differ between rows and stand before the first value: what was set.
std::vector<std::size_t> axes_of(const ColumnView& table, const std::vector<std::size_t>& rows,
                                 const std::set<std::size_t>& taken, const std::vector<ValueColumn>& values) {
  const auto& columns = table.columns();
  std::size_t first_value = columns.size();
  for (const ValueColumn& value : values) first_value = std::min(first_value, value.column);
  for (std::size_t i = 0; i < first_value; ++i) {
    const std::string& name = columns[i];
    const bool bounded = std::find(columns.begin(), columns.end(), name + "_low") != columns.end();
    if (without_role(name) != name || metric_named(name) || bounded) first_value = i;
  }
  std::vector<std::size_t> axes;
  for (std::size_t i = 0; i < first_value; ++i) {
    if (!taken.contains(i) && !describes_row(columns[i]) && table.values(rows, i).size() > 1)
      axes.push_back(i);
  }
  return axes;
}

/// Do no two rows have the same values in all of these columns?
bool tells_apart(const ColumnView& table, const std::vector<std::size_t>& rows,
                 const std::vector<std::size_t>& columns) {
  std::set<std::vector<std::string>> seen;
  for (const std::size_t row : rows) {
    std::vector<std::string> key;
    for (const std::size_t column : columns) key.push_back(table.text(row, column));
    if (!seen.insert(std::move(key)).second) return false;
  }
  return true;
}

std::string axis_name(const ColumnView& table, std::size_t column) {
  return column_symbol(table.columns()[column]);
}

std::string value_label(const std::string& name) {
  if (const auto metric = metric_named(without_role(name))) return metric_label(*metric);
  return last_part(name);
}

std::string shown_value(const std::string& text) {
  const auto number = number_in(text);
  return number ? number_text(*number) : text.empty() ? "none" : text;
}

/// Rows with the same values in some columns, and those values in words: "γ = 3, c = 0.05".
struct Group {
  std::string name;
  std::vector<std::size_t> rows;
};

std::vector<Group> grouped_rows(const ColumnView& table, const std::vector<std::size_t>& rows,
                                const std::vector<std::size_t>& columns) {
  if (columns.empty()) return {{"", rows}};
  std::vector<Group> groups{{"", rows}};
  for (const std::size_t column : columns) {
    std::vector<Group> finer;
    for (const Group& group : groups) {
      for (const std::string& value : table.values(group.rows, column)) {
        Group one;
        const bool numeric = number_in(value).has_value();
        const std::string words = numeric || value.empty()
                                      ? fmt::format("{} = {}", axis_name(table, column), shown_value(value))
                                      : value;
        one.name = group.name.empty() ? words : group.name + ", " + words;
        for (const std::size_t row : group.rows) {
          if (table.text(row, column) == value) one.rows.push_back(row);
        }
        finer.push_back(std::move(one));
      }
    }
    groups = std::move(finer);
  }
  return groups;
}

/// The request with columns found and what was left open chosen.
struct PlotPlan {
  PlotKind kind = PlotKind::line;
  std::vector<std::size_t> rows;
  std::size_t x = 0;
  std::optional<std::size_t> up;  ///< the vertical axis of a heat map
  std::string value;
  std::vector<ValueColumn> values;
  std::vector<std::size_t> color;
  std::vector<std::size_t> facet;
};

std::vector<std::size_t> known_columns(const ColumnView& table, const char* option,
                                       const std::vector<std::string>& names) {
  std::vector<std::size_t> columns;
  for (const std::string& name : names) columns.push_back(table.known(option, name));
  return columns;
}

PlotPlan plan_of(const ColumnView& table, const PlotRequest& request) {
  PlotPlan plan;
  plan.kind = request.kind.value_or(PlotKind::line);
  plan.rows = table.rows_where(request.where);
  const bool heat = plan.kind == PlotKind::heat;
  if (heat) {
    if (request.color.size() > 1) throw UsageError("--color: a heat map has one value");
    plan.value = request.color.empty() ? default_value(table, plan.rows) : request.color.front();
  } else {
    plan.value = request.y ? *request.y : default_value(table, plan.rows);
    plan.color = known_columns(table, "--color", request.color);
  }
  plan.values = value_columns(table, plan.value);
  for (const ValueColumn& value : plan.values)
    table.require_numbers(heat ? "--color" : "--y", plan.rows, value.column);
  plan.facet = known_columns(table, "--facet", request.facet);
  std::set<std::size_t> taken(plan.facet.begin(), plan.facet.end());
  taken.insert(plan.color.begin(), plan.color.end());
  for (const ValueColumn& value : plan.values) taken.insert(value.column);
  if (request.x) taken.insert(plan.x = table.known("--x", *request.x));
  if (heat && request.y) taken.insert(*(plan.up = table.known("--y", *request.y)));
  std::vector<std::size_t> open = axes_of(table, plan.rows, taken, plan.values);
  // The longest axis of numbers first.
  std::stable_sort(open.begin(), open.end(), [&](std::size_t a, std::size_t b) {
    return std::pair(table.numeric(plan.rows, a), table.values(plan.rows, a).size()) >
           std::pair(table.numeric(plan.rows, b), table.values(plan.rows, b).size());
  });
  const auto take_first = [&](const char* option) {
    if (open.empty())
      throw UsageError(fmt::format("{}: nothing that was set differs between these rows; name one of {}",
                                   option, fmt::join(table.columns(), ", ")));
    const std::size_t column = open.front();
    open.erase(open.begin());
    return column;
  };
  if (!request.x && plan.kind != PlotKind::ecdf) plan.x = take_first("--x");
  if (heat && !plan.up) plan.up = take_first("--y");
  // Two long axes of numbers are cells, unless somebody says otherwise.
  const bool cells = !request.kind && request.color.empty() && !open.empty() &&
                     table.numeric(plan.rows, plan.x) && table.numeric(plan.rows, open.front()) &&
                     table.values(plan.rows, open.front()).size() > most_series;
  if (cells) {
    plan.kind = PlotKind::heat;
    plan.up = take_first("--y");
  }
  if (plan.up) {
    table.require_numbers("--x", plan.rows, plan.x);
    table.require_numbers("--y", plan.rows, *plan.up);
  }
  // What is left is the sample of a distribution; else it must not hide one row below another.
  if (plan.kind == PlotKind::box || plan.kind == PlotKind::ecdf) return plan;
  std::vector<std::size_t> used = plan.facet;
  used.insert(used.end(), plan.color.begin(), plan.color.end());
  used.push_back(plan.x);
  if (plan.up) used.push_back(*plan.up);
  const auto few = [&](std::size_t column) { return table.values(plan.rows, column).size() <= most_series; };
  if (!plan.up && request.color.empty() && !tells_apart(table, plan.rows, used)) {
    if (const auto column = std::find_if(open.begin(), open.end(), few); column != open.end()) {
      plan.color.push_back(*column);
      used.push_back(*column);
      open.erase(column);
    }
  }
  for (const std::size_t column : open) {
    if (tells_apart(table, plan.rows, used)) break;
    plan.facet.push_back(column);
    used.push_back(column);
  }
  return plan;
}

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

std::vector<Group> series_of(const ColumnView& table, const PlotPlan& plan,
                             const std::vector<std::size_t>& rows) {
  std::vector<Group> groups = grouped_rows(table, rows, plan.color);
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
  const std::vector<Group> groups = series_of(table, plan, rows);
  for (const Group& group : groups) {
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
  for (const Group& group : series_of(table, plan, rows)) {
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
  for (const Group& group : series_of(table, plan, rows)) {
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
  const std::vector<Group> groups = grouped_rows(table, plan.rows, plan.facet);
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
  for (const Group& group : groups) {
    Panel panel;
    switch (plan.kind) {
      case PlotKind::line:
        panel.figure = line_figure(table, plan, group.rows);
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
  for (Figure& figure : run.result.config.experiment->figures(run.result, run.timings)) {
    figure.id = "plot";
    panels.push_back({std::move(figure)});
  }
  return panels;
}

}  // namespace speclab

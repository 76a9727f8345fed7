// Makes tables, figures, the headline and the CSV of the experiment "serving" from results alone.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>

#include "experiments/base/format/csv_values.hpp"
#include "experiments/base/format/named_entry.hpp"
#include "experiments/base/format/result_fields.hpp"
#include "experiments/base/page/cells.hpp"
#include "experiments/config/cells.hpp"
#include "experiments/results/presentation.hpp"
#include "experiments/results/result_rows.hpp"
#include "experiments/studies/finished_cells.hpp"
#include "serving/study/serving_study.hpp"

namespace speclab {

SPECLAB_RESULT(ServingNumber, "number", name, simulated, measured);
SPECLAB_RESULT(ServingResult, "serving", state, few_requests, numbers);

namespace {

std::optional<double> error_percent(const ServingNumber& number) {
  if (!number.measured || !number.simulated || *number.measured == 0) return std::nullopt;
  return 100 * (number.simulated->estimate / *number.measured - 1);
}

/// Shows the simulated number, or the reason why it is not known.
Cell simulated_cell(const ServingNumber& number, const ServingResult& own) {
  return number.simulated || !own.state ? interval_cell(number.simulated) : text_cell(*own.state);
}

/// Returns sentences that explain the states of cells and name the cells that have them.
std::string state_note(const Result& result) {
  std::map<std::string, std::vector<std::string>> labels;
  for (const auto& [index, cell, own] : finished_cells<ServingResult>(result)) {
    if (!own.state && !own.few_requests) continue;
    labels[own.state.value_or(few_requests_words)].push_back(
        cell.label.empty() ? "this server" : cell_name(result.shown(), cell));
  }
  std::string note;
  for (const auto& [state, names] : labels) {
    if (state == few_requests_words) {
      note += fmt::format(" WARNING: {}: {}; give more serving.requests.", fmt::join(names, "; "), state);
      continue;
    }
    note += fmt::format(
        " {}: {}. {}", state == overloaded_state ? "Overloaded" : "Too short", fmt::join(names, "; "),
        state == overloaded_state
            ? "Requests arrive at 98% or more of the rate that the full server serves, so queues grow: numbers are those of the full server, and times since arrival are not shown. If no requests follow the measured ones (\"settle_after\" 0), all numbers are those of a benchmark of so many requests, whose times since arrival grow with the number of requests."
            : "The requests before the measured ones do not fill the server, or the measured ones arrive all at once: give more \"settle\" and \"requests\".");
  }
  return note;
}

/// Largest error, in percent of the measured number, at which a simulated number counts as predicted.
constexpr double close_percent = 10;

/// Returns true if tables of several cells show the number; results.csv has all.
bool shown(const ServingNumber& number) {
  const std::string& name = number.name;
  if (name.ends_with(" p50")) return false;
  if (name.find(" p") != std::string::npos) return name.rfind("latency", 0) != 0;
  return name == "latency mean" || name == "tokens/s" || name == "accepted" || name == "targets kept";
}

/// Returns a table with a row per cell and a column per number; for one cell, a row per number.
Table table_of(const Result& result, const std::string& id) {
  Table table{id + "-numbers", result.title, {}};
  table.note = fmt::format("Times in milliseconds; ± is the {} interval over runs.",
                           confidence_percent(result.interval_confidence)) +
               state_note(result);
  if (result.cells.size() == 1) {
    table.columns = {"number", "simulated"};
    for (const auto& [index, cell, own] : finished_cells<ServingResult>(result)) {
      for (const ServingNumber& number : own.numbers)
        table.rows.push_back({text_cell(shown_name(number.name)), simulated_cell(number, own)});
    }
    return table;
  }
  // Names differ between cells by percentile and targets.
  std::vector<std::string> names;
  for (const auto& [index, cell, own] : finished_cells<ServingResult>(result)) {
    for (const ServingNumber& number : own.numbers) {
      if (shown(number) && std::ranges::find(names, number.name) == names.end()) names.push_back(number.name);
    }
  }
  if (names.empty()) return table;
  table.columns = {"cell"};
  for (const std::string& name : names) table.columns.push_back(shown_name(name));
  for (const auto& [index, cell, own] : finished_cells<ServingResult>(result)) {
    std::vector<Cell>& row = table.rows.emplace_back(1, text_cell(cell_name(result.shown(), cell)));
    for (const std::string& name : names) {
      const ServingNumber* number = find_named(own.numbers, name);
      row.push_back(number != nullptr ? simulated_cell(*number, own) : Cell{});
    }
  }
  table.note += " results.csv has further numbers.";
  return table;
}

/// Returns a table with simulated and measured numbers side by side.
Table measured_table(const Result& result, const std::string& id) {
  Table table{
      id + "-measured", "Simulated beside measured", {"cell", "number", "simulated", "measured", "error, %"}};
  for (const auto& [index, cell, own] : finished_cells<ServingResult>(result)) {
    for (const ServingNumber& number : own.numbers) {
      if (!number.measured) continue;
      const std::optional<double> error = error_percent(number);
      table.rows.push_back({text_cell(cell_name(result.shown(), cell)), text_cell(shown_name(number.name)),
                            simulated_cell(number, own), number_cell(number.measured),
                            error ? Cell{fmt::format("{:+.1f}", *error), error,
                                         std::abs(*error) <= close_percent ? "good" : "bad"}
                                  : text_cell("–")});
    }
  }
  return table;
}

/// Returns the paths that cells set, besides those that only cases set.
std::vector<std::string> swept_paths(const Result& result) {
  std::vector<std::string> paths = set_paths(result.cells);
  const auto& [cases, sweep] = std::tie(result.shown().cases, result.shown().sweep);
  std::erase_if(paths, [&](const std::string& path) { return cases && !(sweep && find(*sweep, path)); });
  return paths;
}

/// Returns the swept path with the most distinct numbers; empty if none has two.
std::optional<std::string> axis_of(const Result& result) {
  std::optional<std::string> axis;
  std::size_t most = 1;
  for (const std::string& path : swept_paths(result)) {
    std::set<double> values;
    for (const CellResult& cell : result.cells) {
      if (const auto value = set_number(cell, path)) values.insert(*value);
    }
    if (values.size() <= most) continue;
    most = values.size();
    axis = path;
  }
  return axis;
}

/// Returns a cell's case and settings besides the axis, such as "policy sglang".
std::string series_name(const Result& result, const CellResult& cell, const std::vector<std::string>& paths,
                        const std::string& axis) {
  std::string name = result.shown().cases ? cell.label : "";
  for (const std::string& path : paths) {
    const Json* value = set_value(cell, path);
    if (path == axis || value == nullptr) continue;
    if (!name.empty()) name += ", ";
    name += value->is_string() ? value->get<std::string>()
                               : path.substr(path.rfind('/') + 1) + " " + value->dump();
  }
  return name.empty() ? "simulated" : name;
}

/// Returns the series with this name, new if there is none.
Series& series_named(Figure& figure, const std::string& name, SeriesStyle style) {
  const auto found = std::ranges::find(figure.series, name, &Series::name);
  return found != figure.series.end() ? *found
                                      : figure.series.emplace_back(Series{.name = name, .style = style});
}

Figure curves(const Result& result, const std::string& axis, const std::string& number_name) {
  Figure figure;
  const std::string last = axis.substr(axis.rfind('/') + 1);
  figure.title = fmt::format("{} by {}", shown_name(number_name), last);
  figure.x_label = last;
  figure.y_label = shown_name(number_name, true);
  const std::vector<std::string> paths = swept_paths(result);
  Series measured{.name = "measured", .style = SeriesStyle::points};
  for (const auto& [index, cell, own] : finished_cells<ServingResult>(result)) {
    const auto x = set_number(cell, axis);
    const ServingNumber* number = find_named(own.numbers, number_name);
    if (!x || number == nullptr) continue;
    if (number->simulated)
      series_named(figure, series_name(result, cell, paths, axis), SeriesStyle::line)
          .add(*x, *number->simulated);
    if (number->measured) measured.add(*x, *number->measured);
  }
  figure.add(std::move(measured));
  figure.caption = "Bands: intervals over runs.";
  return figure;
}

/// Draws one number for each case, side by side.
Figure over_cases(const Result& result, const std::string& number_name) {
  Figure figure{.title = number_name + " by case", .y_label = shown_name(number_name, true)};
  Series points{.name = "simulated", .style = SeriesStyle::points};
  for (const auto& [index, cell, own] : finished_cells<ServingResult>(result)) {
    const ServingNumber* number = find_named(own.numbers, number_name);
    if (number != nullptr && number->simulated)
      points.add(figure.add_category(cell_name(result.shown(), cell)), *number->simulated);
  }
  figure.add(std::move(points));
  figure.caption = "Bars: intervals over runs.";
  return figure;
}

/// Draws simulated divided by measured for every measured number.
Figure over_measured(const Result& result) {
  Figure figure{.title = "Simulated over measured", .y_label = "simulated / measured"};
  for (const auto& [index, cell, own] : finished_cells<ServingResult>(result)) {
    const double at = figure.add_category(cell_name(result.shown(), cell));
    for (const ServingNumber& number : own.numbers) {
      if (const std::optional<double> error = error_percent(number))
        series_named(figure, number.name, SeriesStyle::points).add(at, 1 + *error / 100);
    }
  }
  figure.caption = "1: the simulation agrees with the measurement.";
  return figure;
}

std::vector<Table> serving_tables(const Result& result, const Timings&, const std::string& id) {
  std::vector<Table> tables{table_of(result, id)};
  if (Table measured = measured_table(result, id); !measured.rows.empty())
    tables.push_back(std::move(measured));
  return tables;
}

std::vector<Figure> serving_figures(const Result& result, const Timings&) {
  std::vector<Figure> figures{over_measured(result)};
  if (const auto axis = axis_of(result)) {
    for (const char* name : {"tokens/s", "latency mean", "TTFT mean", "TPOT mean", "targets kept"})
      figures.push_back(curves(result, *axis, name));
  } else if (result.cells.size() > 1) {
    for (const char* name : {"latency mean", "TPOT mean", "TPOT deviation"})
      figures.push_back(over_cases(result, name));
  }
  std::erase_if(figures, [](const Figure& figure) { return figure.series.empty(); });
  return figures;
}

std::string serving_headline(const Result& result, const Timings&) {
  const auto cells = finished_cells<ServingResult>(result);
  std::size_t measured = 0;
  std::size_t close = 0;
  std::size_t overloaded = 0;
  const ServingNumber* speed = nullptr;
  for (const auto& [index, cell, own] : cells) {
    overloaded += own.state == overloaded_state ? 1 : 0;
    for (const ServingNumber& number : own.numbers) {
      if (number.name == "tokens/s" && number.simulated &&
          (speed == nullptr || number.simulated->estimate > speed->simulated->estimate))
        speed = &number;
      if (!number.measured) continue;
      const std::optional<double> error = error_percent(number);
      ++measured;
      close += error && std::abs(*error) <= close_percent ? 1 : 0;
    }
  }
  if (cells.empty()) return "Interrupted: partial.";
  if (speed == nullptr) return "Too short: nothing could be measured.";
  std::string text = fmt::format("{} {}, up to {} tokens per second.", cells.size(),
                                 cells.size() == 1 ? "cell" : "cells", interval_text(*speed->simulated));
  if (overloaded > 0) text += fmt::format(" {} overloaded.", overloaded);
  if (measured > 0)
    text += fmt::format(" {} of {} measured numbers are within {}%.", close, measured, close_percent);
  return text;
}

std::string serving_csv(const Result& result, const Timings&) {
  std::vector<std::string> columns{"number"};
  add_interval_columns(columns, "simulated");
  columns.insert(columns.end(), {"measured", "error_percent"});
  const ResultRows rows(result, set_paths(result.cells), columns);
  std::string lines = rows.header();
  for (const auto& [index, cell, own] : finished_cells<ServingResult>(result)) {
    for (const ServingNumber& number : own.numbers) {
      std::vector<CsvValue> row{number.name};
      add_interval(row, number.simulated);
      row.push_back(csv_value(number.measured));
      row.push_back(csv_value(error_percent(number)));
      lines += rows.line(index, cell, std::move(row));
    }
  }
  return lines;
}

}  // namespace

Presentation serving_presentation() {
  return {
      .tables = serving_tables, .figures = serving_figures, .headline = serving_headline, .csv = serving_csv};
}

}  // namespace speclab

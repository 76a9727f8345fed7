// Describes results of the experiment "schedules" as JSON, and makes their tables and figures from the
// results alone.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "experiments/base/format/csv_values.hpp"
#include "experiments/base/format/result_fields.hpp"
#include "experiments/base/page/cells.hpp"
#include "experiments/results/metric_tables.hpp"
#include "experiments/results/presentation.hpp"
#include "experiments/results/result_rows.hpp"
#include "experiments/studies/finished_cells.hpp"
#include "experiments/studies/schedules/schedules.hpp"

namespace speclab {

SPECLAB_CHOICE(EventKind, {"draft run", EventKind::draft_run}, {"target run", EventKind::target_run},
               {"dropped run", EventKind::dropped_run}, {"function f", EventKind::function_f},
               {"function g", EventKind::function_g}, {"stand-in for f", EventKind::draft_of_f});

SPECLAB_RESULT(PrintedValue, "commonly_printed", meaning, value);
SPECLAB_RESULT(ScheduleRow, "schedule", name, kind, gamma, c, formula, commonly_printed, speedup,
               formula_within_interval, error_percent, difference, tokens);
SPECLAB_RESULT(TracedRun, "run", start, end, track, kind, label);
SPECLAB_RESULT(ScheduleTrace, "trace", schedule, end, runs);
SPECLAB_RESULT(SchedulesResult, "schedules", measured_alpha, reference, rows, traces);

namespace {

/// Returns a kind in words: "draft run", "dropped run".
std::string words(EventKind kind) {
  Json json;
  write(described<EventKind>(), kind, json);
  return json.get<std::string>();
}

using SchedulesCell = FinishedCell<SchedulesResult>;

std::vector<SchedulesCell> cells_of(const Result& result) { return finished_cells<SchedulesResult>(result); }

/// Returns the commonly printed formula's value if it differs from the formula's.
std::optional<double> differing_value(const ScheduleRow& row) {
  if (!row.commonly_printed) return std::nullopt;
  const std::optional<double> value = row.commonly_printed->value;
  if (!value || !row.formula) return value;
  return std::abs(*value - *row.formula) <= 1e-9 * *row.formula ? std::nullopt : value;
}

Cell verdict_cell(const ScheduleRow& row) {
  if (row.formula_within_interval) {
    const bool within = *row.formula_within_interval;
    return {within ? "yes" : "no", std::nullopt, within ? "good" : "bad"};
  }
  if (!row.error_percent) return {};
  return {fmt::format("{:+.2f}", *row.error_percent), row.error_percent, ""};
}

Table table_of(const Result& result, const SchedulesCell& of, const std::string& id) {
  const SchedulesResult& own = of.own;
  const bool approximate = own.measured_alpha.has_value();
  Table table{
      fmt::format("{}-cell-{}", id, of.index + 1),
      fmt::format(
          "{}, α = {}", titled(result.title, of.cell.label),
          approximate ? interval_text(*own.measured_alpha) : number_text(of.cell.exact_alpha.value_or(0))),
      {"schedule", approximate ? "formula at the measured α" : "formula", "speedup, simulated ± interval",
       approximate ? "formula's error, %" : "formula within interval", "commonly printed formula",
       "which is"}};
  if (own.reference) table.columns.push_back(fmt::format("less {}", *own.reference));
  for (const ScheduleRow& row : own.rows) {
    const std::optional<double> printed = differing_value(row);
    std::vector<Cell>& cells = table.rows.emplace_back();
    cells = {text_cell(row.name),        number_cell(row.formula),
             interval_cell(row.speedup), verdict_cell(row),
             number_cell(printed),       printed ? text_cell(row.commonly_printed->meaning) : Cell{}};
    if (own.reference) cells.push_back(interval_cell(row.difference));
  }
  table.note = fmt::format(
      "± is the {} interval; differences are paired by trial. Speedups compare with decoding token by token; for batches, of the same batch; for speculative function execution, with f then g.{}",
      confidence_percent(result.interval_confidence),
      approximate ? " The formulas assume independent acceptances, which these are not." : "");
  if (approximate && !own.measured_alpha->bounded()) table.note += " " + unknown_error_note();
  return table;
}

/// Returns the path that a config sweeps, if it sweeps only one number.
std::optional<std::string> swept_path(const ShownConfig& config) {
  if (config.cases || !config.sweep || config.sweep->size() != 1) return std::nullopt;
  return config.sweep->front().first;
}

/// Draws the speedup of each schedule over the swept number.
std::optional<Figure> sweep_figure(const Result& result) {
  const std::optional<std::string> path = swept_path(result.shown());
  if (!path) return std::nullopt;
  std::vector<Series> lines;
  std::vector<Series> points;
  for (const auto& [index, cell, own] : cells_of(result)) {
    const Json* x = set_value(cell, *path);
    if (x == nullptr || !x->is_number()) continue;
    for (std::size_t at = 0; at < own.rows.size(); ++at) {
      const ScheduleRow& row = own.rows[at];
      if (at == points.size()) {
        lines.emplace_back();
        points.push_back({.name = row.name, .style = SeriesStyle::points});
      }
      // If the name changes with the swept number, the kind is shown instead.
      if (points[at].name != row.name) points[at].name = row.kind;
      if (row.formula) lines[at].add(x->get<double>(), *row.formula);
      points[at].add(x->get<double>(), row.speedup);
    }
  }
  if (points.empty()) return std::nullopt;
  Figure figure{.title = "speedup",
                .x_label = path->substr(path->rfind('/') + 1),
                .y_label = "speedup over plain decoding"};
  for (std::size_t at = 0; at < points.size(); ++at) {
    if (!lines[at].x.empty()) {
      lines[at].name = std::exchange(points[at].name, "");
      points[at].colour_of = figure.series.size();
      figure.series.push_back(std::move(lines[at]));
    }
    figure.series.push_back(std::move(points[at]));
  }
  figure.caption = "Speedup of each schedule. Lines: formula. Points: simulation, with its interval.";
  return figure;
}

/// Draws formula and simulation of each schedule of one cell.
Figure speedups(const SchedulesResult& own, const std::string& label) {
  Figure figure{.title = titled("Speedup of each schedule", label), .y_label = "speedup over plain decoding"};
  Series formula{.name = "formula", .style = SeriesStyle::levels};
  Series simulated{.name = "simulated", .style = SeriesStyle::points};
  for (const ScheduleRow& row : own.rows) {
    const double at = figure.add_category(row.name);
    if (row.formula) formula.add(at, *row.formula);
    simulated.add(at, row.speedup);
  }
  figure.add(std::move(formula));
  figure.series.push_back(std::move(simulated));
  figure.caption = "Simulated values with their intervals.";
  return figure;
}

/// The most tracks of one schedule in a figure.
constexpr std::size_t max_tracks = 6;

/// Adds a run to the row; merges runs that are too short to be drawn with neighbours of the same kind.
void add_block(TraceRow& row, const TraceBlock& block, double shortest) {
  if (!row.blocks.empty()) {
    TraceBlock& last = row.blocks.back();
    const bool touches = std::abs(last.end - block.start) < 1e-9;
    if (touches && last.kind == block.kind && block.end - block.start < shortest) {
      last.end = block.end;
      return;
    }
  }
  row.blocks.push_back(block);
}

/// Draws one row for a schedule whose runs never overlap, else one row per track.
void add_trace(Figure& figure, const ScheduleTrace& trace, double shortest) {
  std::vector<TraceBlock> blocks;
  std::vector<TraceRow> tracks;
  for (const TracedRun& run : trace.runs) {
    blocks.push_back({run.start, run.end, words(run.kind)});
    if (tracks.empty() || tracks.back().label != run.track) tracks.push_back({run.track, {}});
    add_block(tracks.back(), blocks.back(), shortest);
  }
  std::ranges::sort(blocks, {}, &TraceBlock::start);
  const auto overlap = [](const TraceBlock& a, const TraceBlock& b) { return a.end > b.start + 1e-9; };
  if (std::ranges::adjacent_find(blocks, overlap) == blocks.end()) {
    TraceRow joined{trace.schedule, {}};
    for (const TraceBlock& block : blocks) add_block(joined, block, shortest);
    figure.trace.push_back(std::move(joined));
    return;
  }
  if (tracks.size() > max_tracks) tracks.resize(max_tracks);
  tracks.front().label = fmt::format("{}: {}", trace.schedule, tracks.front().label);
  for (TraceRow& track : tracks) figure.trace.push_back(std::move(track));
}

Figure timeline(const std::vector<ScheduleTrace>& traces, const std::string& label) {
  constexpr double shortest_of_all = 0.01;
  double end = 0;
  for (const ScheduleTrace& trace : traces) end = std::max(end, trace.end);
  Figure figure;
  for (const ScheduleTrace& trace : traces) add_trace(figure, trace, shortest_of_all * end);
  figure.title = titled("Timelines", label);
  figure.x_label = "time, in target runs";
  figure.caption = fmt::format(
      "Timelines of the first sequence; a schedule with more than {0} tracks shows the first {0}. A dropped run is one whose result was not used. result.json has all runs.",
      max_tracks);
  return figure;
}

/// Returns one table per cell, with one row per schedule.
std::vector<Table> schedules_tables(const Result& result, const Timings&, const std::string& id) {
  std::vector<Table> tables;
  for (const SchedulesCell& one : cells_of(result)) tables.push_back(table_of(result, one, id));
  return tables;
}

/// Draws the speedup over the swept number, if only one is swept, and timelines of cells with traces.
std::vector<Figure> schedules_figures(const Result& result, const Timings&) {
  std::vector<Figure> figures;
  constexpr std::size_t max_cells_drawn = 4;
  if (std::optional<Figure> swept = sweep_figure(result)) figures.push_back(std::move(*swept));
  const bool sweeps = swept_path(result.shown()).has_value();
  for (const auto& [index, cell, own] : cells_of(result)) {
    if (!sweeps && !own.rows.empty() && figures.size() < max_cells_drawn)
      figures.push_back(speedups(own, cell.label));
  }
  for (const auto& [index, cell, own] : cells_of(result)) {
    if (own.traces) figures.push_back(timeline(*own.traces, cell.label));
  }
  return figures;
}

std::string schedules_headline(const Result& result, const Timings&) {
  const ScheduleRow* best = nullptr;
  std::string where;
  // An upper bound is no schedule: it is named only where nothing else is.
  const auto rank = [](const ScheduleRow& row) {
    return std::pair(!row.name.starts_with("upper bound"), row.speedup.estimate);
  };
  for (const SchedulesCell& one : cells_of(result)) {
    for (const ScheduleRow& row : one.own.rows) {
      if (best == nullptr || rank(row) > rank(*best)) {
        best = &row;
        where = one.cell.label;
      }
    }
  }
  if (best == nullptr) return "Interrupted: partial.";
  std::string text =
      fmt::format("Fastest: {}, {} times as fast as plain decoding{}.", best->name,
                  interval_text(best->speedup), where.empty() ? "" : fmt::format(" ({})", where));
  if (const Agreement found = agreement(result); found.compared > 0)
    text += fmt::format(" The formula lies within {} of {} intervals.", found.held, found.compared);
  return text;
}

/// Returns one row per schedule of each cell, with every number in full.
std::string schedules_csv(const Result& result, const Timings&) {
  std::vector<std::string> columns{"schedule", "kind", "alpha", "formula_speedup",
                                   "commonly_printed_speedup"};
  add_interval_columns(columns, "simulated_speedup");
  columns.insert(columns.end(), {"formula_within_interval", "error_percent"});
  add_interval_columns(columns, "difference");
  columns.insert(columns.end(), {"tokens", "own_gamma", "own_c"});
  const ResultRows rows(result, set_paths(result.cells), columns);
  std::string lines = rows.header();
  for (const auto& [index, cell, own] : cells_of(result)) {
    const std::optional<double> alpha = own.measured_alpha ? own.measured_alpha->estimate : cell.exact_alpha;
    for (const ScheduleRow& schedule : own.rows) {
      const auto printed = schedule.commonly_printed ? schedule.commonly_printed->value : std::nullopt;
      std::vector<CsvValue> row{schedule.name, schedule.kind, csv_value(alpha), csv_value(schedule.formula),
                                csv_value(printed)};
      add_interval(row, schedule.speedup);
      row.push_back(csv_value(schedule.formula_within_interval));
      row.push_back(csv_value(schedule.error_percent));
      add_interval(row, schedule.difference);
      row.insert(row.end(),
                 {schedule.tokens, csv_value(std::optional<double>(schedule.gamma)), csv_value(schedule.c)});
      lines += rows.line(index, cell, std::move(row));
    }
  }
  return lines;
}

}  // namespace

Presentation schedules_presentation() {
  return {.tables = schedules_tables,
          .figures = schedules_figures,
          .headline = schedules_headline,
          .csv = schedules_csv};
}

}  // namespace speclab

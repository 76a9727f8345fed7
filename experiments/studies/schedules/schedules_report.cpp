// Results as JSON, tables, figures and files of the experiment "schedules", from results alone.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "experiments/format/csv_values.hpp"
#include "experiments/format/result_fields.hpp"
#include "experiments/page/cells.hpp"
#include "experiments/results/metric_tables.hpp"
#include "experiments/run/result_rows.hpp"
#include "experiments/studies/schedules/schedules.hpp"

namespace speclab {

template <>
const Typed<EventKind>& described() {
  static const auto type = choice<EventKind>({{"draft run", EventKind::draft_run},
                                              {"target run", EventKind::target_run},
                                              {"dropped run", EventKind::dropped_run},
                                              {"function f", EventKind::function_f},
                                              {"function g", EventKind::function_g},
                                              {"stand-in for f", EventKind::draft_of_f}});
  return type;
}

SPECLAB_RESULT(PrintedValue, "commonly_printed", meaning, value);
SPECLAB_RESULT(ScheduleRow, "schedule", name, kind, formula, commonly_printed, speedup,
               formula_within_interval, error_percent, difference, tokens);
SPECLAB_RESULT(TracedRun, "run", start, end, track, kind, label);
SPECLAB_RESULT(ScheduleTrace, "trace", schedule, end, runs);
SPECLAB_RESULT(SchedulesResult, "schedules", measured_alpha, reference, rows, traces);

namespace {

/// "draft run", "dropped run".
std::string words(EventKind kind) {
  Json json;
  write(described<EventKind>(), kind, json);
  return json.get<std::string>();
}

/// What the experiment found about a cell, null for one that was interrupted.
const SchedulesResult* own_of(const CellResult& cell) {
  return cell.own ? &own<SchedulesResult>(cell) : nullptr;
}

/// The commonly printed formula, where it has a value of its own.
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

Table table_of(const CellResult& cell, const SchedulesResult& own, const std::string& id,
               const std::string& title, double confidence) {
  const bool approximate = own.measured_alpha.has_value();
  Table table;
  table.id = id;
  table.caption = fmt::format(
      "{}, α = {}", titled(title, cell.label),
      approximate ? interval_text(*own.measured_alpha) : number_text(cell.exact_alpha.value_or(0)));
  table.columns = {"schedule",
                   approximate ? "formula at the measured α" : "formula",
                   "speedup, simulated ± interval",
                   approximate ? "formula's error, %" : "formula within interval",
                   "commonly printed formula",
                   "which is"};
  if (own.reference) table.columns.push_back(fmt::format("less {}", *own.reference));
  for (const ScheduleRow& row : own.rows) {
    const std::optional<double> printed = differing_value(row);
    std::vector<Cell> cells{
        text_cell(row.name),        number_cell(row.formula),
        interval_cell(row.speedup), verdict_cell(row),
        number_cell(printed),       printed ? text_cell(row.commonly_printed->meaning) : Cell{}};
    if (own.reference) cells.push_back(interval_cell(row.difference));
    table.rows.push_back(std::move(cells));
  }
  table.note = fmt::format(
      "± is the {} interval; differences are paired, trial by trial. Speedup is over plain decoding: of the "
      "same batch, for batches, and f then g, for speculative function execution.{}",
      confidence_percent(confidence),
      approximate ? " The formulas assume independent acceptances, which these are not." : "");
  if (approximate && !own.measured_alpha->bounded()) table.note += " " + unknown_error_note();
  return table;
}

/// The path that a config sweeps, when it sweeps one number alone.
std::optional<std::string> swept_path(const ShownConfig& config) {
  if (config.cases || !config.sweep || config.sweep->size() != 1) return std::nullopt;
  return config.sweep->front().first;
}

/// The curve of one schedule.
struct Curve {
  std::string name;
  Series line;
  Series points;
};

void add_points(std::vector<Curve>& curves, double x, const SchedulesResult& own) {
  for (std::size_t at = 0; at < own.rows.size(); ++at) {
    const ScheduleRow& row = own.rows[at];
    if (at == curves.size()) {
      curves.push_back({row.name, {}, {}});
      curves.back().points.style = SeriesStyle::points;
    } else if (curves[at].name != row.name) {
      // What is swept stands in the name.
      curves[at].name = row.kind;
    }
    if (row.formula) curves[at].line.add(x, *row.formula);
    curves[at].points.add(x, row.speedup);
  }
}

/// Speedup of each schedule over the swept number.
std::optional<Figure> sweep_figure(const Result& result) {
  const std::optional<std::string> path = swept_path(result.shown());
  if (!path) return std::nullopt;
  std::vector<Curve> curves;
  for (const CellResult& cell : result.cells) {
    const Json* x = set_value(cell, *path);
    const SchedulesResult* own = own_of(cell);
    if (own != nullptr && x != nullptr && x->is_number()) add_points(curves, x->get<double>(), *own);
  }
  if (curves.empty()) return std::nullopt;
  Figure figure;
  figure.title = "speedup";
  figure.x_label = path->substr(path->rfind('/') + 1);
  figure.y_label = "speedup over plain decoding";
  for (Curve& curve : curves) {
    if (curve.line.x.empty()) {
      curve.points.name = curve.name;
    } else {
      curve.line.name = curve.name;
      curve.points.colour_of = figure.series.size();
      figure.series.push_back(std::move(curve.line));
    }
    figure.series.push_back(std::move(curve.points));
  }
  figure.caption = "Speedup of each schedule. Lines: formula. Points: simulation, with its interval.";
  return figure;
}

/// Formula and simulation of each schedule of one cell.
Figure speedups(const SchedulesResult& own, const std::string& label) {
  Figure figure;
  figure.title = titled("Speedup of each schedule", label);
  figure.y_label = "speedup over plain decoding";
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

/// Tracks of one schedule in a figure, at most.
constexpr std::size_t max_tracks = 6;

bool earlier(const TraceBlock& a, const TraceBlock& b) { return a.start < b.start; }

bool on_one_track(std::vector<TraceBlock> blocks) {
  std::sort(blocks.begin(), blocks.end(), earlier);
  for (std::size_t i = 0; i + 1 < blocks.size(); ++i) {
    if (blocks[i].end > blocks[i + 1].start + 1e-9) return false;
  }
  return true;
}

/// Runs too short to be drawn by themselves become one block with their neighbours of the same kind.
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

/// One row for a schedule whose runs follow one another, else one row per track.
void add_trace(Figure& figure, const ScheduleTrace& trace, double shortest) {
  TraceRow together{trace.schedule, {}};
  std::vector<TraceRow> tracks;
  for (const TracedRun& run : trace.runs) {
    const TraceBlock block{run.start, run.end, words(run.kind)};
    if (tracks.empty() || tracks.back().label != run.track) tracks.push_back({run.track, {}});
    add_block(tracks.back(), block, shortest);
    together.blocks.push_back(block);
  }
  if (on_one_track(together.blocks)) {
    std::sort(together.blocks.begin(), together.blocks.end(), earlier);
    TraceRow joined{trace.schedule, {}};
    for (const TraceBlock& block : together.blocks) add_block(joined, block, shortest);
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
      "Timelines of the first sequence; of a schedule with more than {0} tracks, the first {0}. A dropped "
      "run is one whose result was not used. trace.json has all runs, for chrome://tracing and Perfetto.",
      max_tracks);
  return figure;
}

/// Events of Chrome's trace event format.
class ChromeTrace {
 public:
  void add(const ScheduleTrace& trace, const std::string& label) {
    ++process_;
    add_name("process_name", 0, titled(trace.schedule, label));
    std::vector<std::string> tracks;
    for (const TracedRun& run : trace.runs) {
      auto found = std::find(tracks.begin(), tracks.end(), run.track);
      if (found == tracks.end()) {
        tracks.push_back(run.track);
        found = tracks.end() - 1;
        add_name("thread_name", static_cast<int>(tracks.size()), run.track);
      }
      constexpr double microseconds = 1000;  // in a target run
      events_.push_back({{"name", words(run.kind)},
                         {"cat", trace.schedule},
                         {"ph", "X"},
                         {"ts", microseconds * run.start},
                         {"dur", microseconds * (run.end - run.start)},
                         {"pid", process_},
                         {"tid", found - tracks.begin() + 1},
                         {"args", {{"tokens", run.label}}}});
    }
  }

  bool empty() const { return process_ == 0; }
  std::string text() const { return Json{{"traceEvents", events_}, {"displayTimeUnit", "ms"}}.dump() + "\n"; }

 private:
  void add_name(const char* what, int thread, const std::string& name) {
    events_.push_back(
        {{"name", what}, {"ph", "M"}, {"pid", process_}, {"tid", thread}, {"args", {{"name", name}}}});
  }

  Json events_ = Json::array();
  int process_ = 0;
};

}  // namespace

std::vector<Table> schedules_tables(const Result& result, const Timings&, const std::string& id) {
  std::vector<Table> tables;
  for (std::size_t i = 0; i < result.cells.size(); ++i) {
    const SchedulesResult* own = own_of(result.cells[i]);
    if (own == nullptr) continue;
    tables.push_back(table_of(result.cells[i], *own, fmt::format("{}-cell-{}", id, i + 1), result.title,
                              result.interval_confidence));
  }
  return tables;
}

std::vector<Figure> schedules_figures(const Result& result, const Timings&) {
  std::vector<Figure> figures;
  constexpr std::size_t max_cells_drawn = 4;
  if (std::optional<Figure> swept = sweep_figure(result)) figures.push_back(std::move(*swept));
  for (const CellResult& cell : result.cells) {
    const SchedulesResult* own = own_of(cell);
    if (own == nullptr || own->rows.empty() || swept_path(result.shown()) ||
        figures.size() == max_cells_drawn)
      continue;
    figures.push_back(speedups(*own, cell.label));
  }
  for (const CellResult& cell : result.cells) {
    const SchedulesResult* own = own_of(cell);
    if (own != nullptr && own->traces) figures.push_back(timeline(*own->traces, cell.label));
  }
  return figures;
}

std::string schedules_headline(const Result& result, const Timings&) {
  const ScheduleRow* best = nullptr;
  std::string where;
  std::size_t held = 0;
  std::size_t compared = 0;
  for (const CellResult& cell : result.cells) {
    const SchedulesResult* own = own_of(cell);
    if (own == nullptr) continue;
    for (const ScheduleRow& row : own->rows) {
      if (best == nullptr || row.speedup.estimate > best->speedup.estimate) {
        best = &row;
        where = cell.label;
      }
      if (!row.formula_within_interval) continue;
      ++compared;
      held += *row.formula_within_interval ? 1 : 0;
    }
  }
  if (best == nullptr) return "Interrupted: partial.";
  std::string text =
      fmt::format("Fastest: {}, {} times as fast as plain decoding{}.", best->name,
                  interval_text(best->speedup), where.empty() ? "" : fmt::format(" ({})", where));
  if (compared > 0) text += fmt::format(" The formula lies within {} of {} intervals.", held, compared);
  return text;
}

std::string schedules_csv(const Result& result, const Timings&) {
  std::vector<std::string> columns{"schedule", "kind", "alpha", "formula_speedup",
                                   "commonly_printed_speedup"};
  add_interval_columns(columns, "simulated_speedup");
  columns.emplace_back("formula_within_interval");
  columns.emplace_back("error_percent");
  add_interval_columns(columns, "difference");
  columns.emplace_back("tokens");
  const ResultRows rows(result, set_paths(result.cells), columns);
  std::string lines = rows.header();
  for (std::size_t i = 0; i < result.cells.size(); ++i) {
    const CellResult& cell = result.cells[i];
    const SchedulesResult* own = own_of(cell);
    if (own == nullptr) continue;
    const std::optional<double> alpha =
        own->measured_alpha ? own->measured_alpha->estimate : cell.exact_alpha;
    for (const ScheduleRow& schedule : own->rows) {
      std::vector<CsvValue> row{schedule.name, schedule.kind};
      row.push_back(csv_value(alpha));
      row.push_back(csv_value(schedule.formula));
      row.push_back(csv_value(schedule.commonly_printed ? schedule.commonly_printed->value : std::nullopt));
      add_interval(row, schedule.speedup);
      row.push_back(csv_value(schedule.formula_within_interval));
      row.push_back(csv_value(schedule.error_percent));
      add_interval(row, schedule.difference);
      row.emplace_back(schedule.tokens);
      lines += rows.line(i, cell, std::move(row));
    }
  }
  return lines;
}

std::vector<std::pair<std::string, std::string>> schedules_files(const Result& result) {
  ChromeTrace trace;
  for (const CellResult& cell : result.cells) {
    const SchedulesResult* own = own_of(cell);
    if (own == nullptr || !own->traces) continue;
    for (const ScheduleTrace& each : *own->traces) trace.add(each, cell.label);
  }
  if (trace.empty()) return {};
  return {{"trace.json", trace.text()}};
}

}  // namespace speclab

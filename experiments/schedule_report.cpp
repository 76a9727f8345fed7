#include "experiments/schedule_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "experiments/csv_values.hpp"
#include "experiments/presentation.hpp"

namespace speclab {

namespace {

bool measured(const Json& cell) { return cell.at("formula_alpha") == "measured"; }

/// The form commonly given, where it has a value of its own.
Json usual_value(const Json& row) {
  if (!row.contains("usual")) return nullptr;
  Json value = row.at("usual").at("value");
  if (!value.is_number() || !row.at("formula").is_number()) return value;
  const auto formula = row.at("formula").get<double>();
  return std::abs(value.get<double>() - formula) <= 1e-9 * formula ? Json() : value;
}

Cell verdict_cell(const Json& row) {
  if (row.contains("inside")) {
    const bool inside = row.at("inside").get<bool>();
    return {inside ? "yes" : "no", std::nullopt, inside ? "good" : "bad"};
  }
  if (!row.contains("error_percent")) return {};
  const auto error = row.at("error_percent").get<double>();
  return {fmt::format("{:+.2f}", error), error, ""};
}

Table table_of(const Json& cell, const std::string& id, const std::string& title, double confidence) {
  const bool approximate = measured(cell);
  const std::string reference = cell.value("reference", "");
  const Json& alpha = cell.at("alpha");
  Table table;
  table.id = id;
  table.caption = fmt::format("{}, α = {}", titled(title, cell.at("label").get<std::string>()),
                              alpha.is_array() ? interval_text(alpha) : number_text(alpha.get<double>()));
  table.columns = {"schedule",
                   approximate ? "closed form at the measured α" : "closed form",
                   "speed-up, simulated ± interval",
                   approximate ? "closed form's error, %" : "closed form inside",
                   "as usually given",
                   "which is"};
  if (!reference.empty()) table.columns.push_back(fmt::format("less {}", reference));
  for (const Json& row : cell.at("schedules")) {
    const Json usual = usual_value(row);
    std::vector<Cell> cells{
        {row.at("name").get<std::string>(), std::nullopt, ""},
        number_cell(row.at("formula")),
        interval_cell(row.at("simulated")),
        verdict_cell(row),
        number_cell(usual),
        usual.is_null() ? Cell{} : Cell{row.at("usual").at("name").get<std::string>(), std::nullopt, ""}};
    if (!reference.empty()) {
      cells.push_back(row.contains("difference") ? interval_cell(row.at("difference")) : Cell{});
    }
    table.rows.push_back(std::move(cells));
  }
  table.note = fmt::format(
      "± is the {:.6g}% interval; differences are paired, trial by trial. Speed-up is over plain decoding: "
      "of "
      "the same batch, for batches, and f then g, for two functions.{}",
      100 * confidence,
      approximate ? " The closed forms take acceptances for independent, which these are not." : "");
  return table;
}

Series line_of(std::string name, SeriesStyle style) {
  Series series;
  series.name = std::move(name);
  series.style = style;
  return series;
}

/// Speed of each schedule over the one swept path.
std::optional<Figure> sweep_figure(const Json& result) {
  const Json& config = result.at("config");
  if (config.contains("cases") || !config.contains("sweep") || config.at("sweep").size() != 1) return {};
  const std::string path = config.at("sweep").begin().key();
  std::vector<std::string> names;
  std::vector<Series> lines;
  std::vector<Series> points;
  for (const Json& cell : result.at("cells")) {
    const Json x = cell.at("set").value(path, Json());
    if (!cell.contains("schedules") || !x.is_number()) continue;
    const Json& rows = cell.at("schedules");
    for (std::size_t at = 0; at < rows.size(); ++at) {
      const Json& row = rows[at];
      const auto name = row.at("name").get<std::string>();
      if (at == names.size()) {
        names.push_back(name);
        lines.push_back(line_of("", SeriesStyle::line));
        points.push_back(line_of("", SeriesStyle::points));
      } else if (names[at] != name) {
        // What is swept stands in the name.
        names[at] = row.at("kind").get<std::string>();
      }
      if (row.at("formula").is_number()) {
        lines[at].x.push_back(x.get<double>());
        lines[at].y.push_back(row.at("formula").get<double>());
      }
      const Json& speed = row.at("simulated");
      points[at].x.push_back(x.get<double>());
      points[at].y.push_back(speed[0].get<double>());
      points[at].low.push_back(speed[1].get<double>());
      points[at].high.push_back(speed[2].get<double>());
    }
  }
  if (names.empty()) return {};
  Figure figure;
  figure.title = "speed-up";
  figure.x_label = path.substr(path.rfind('/') + 1);
  figure.y_label = "speed-up over plain decoding";
  for (std::size_t i = 0; i < names.size(); ++i) {
    const bool drawn = !lines[i].x.empty();
    if (drawn) {
      lines[i].name = names[i];
      points[i].colour_of = figure.series.size();
      figure.series.push_back(std::move(lines[i]));
    } else {
      points[i].name = names[i];
    }
    figure.series.push_back(std::move(points[i]));
  }
  figure.caption = "Speed-up of each schedule. Lines: closed form. Points: simulation, with its interval.";
  return figure;
}

/// Rows of one schedule in a figure, at most.
constexpr std::size_t most_streams = 6;

bool earlier(const TraceBlock& a, const TraceBlock& b) { return a.start < b.start; }

bool in_one_lane(std::vector<TraceBlock> blocks) {
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

/// One row a schedule whose runs follow one another, else one row a lane.
Figure timeline(const Json& cell) {
  constexpr double shortest_of_all = 0.01;
  double end = 0;
  for (const Json& trace : cell.at("trace")) end = std::max(end, trace.at("end").get<double>());
  const double shortest = shortest_of_all * end;
  Figure figure;
  for (const Json& trace : cell.at("trace")) {
    const auto name = trace.at("schedule").get<std::string>();
    TraceRow together{name, {}};
    std::vector<TraceRow> lanes;
    for (const Json& event : trace.at("events")) {
      const TraceBlock block{event.at("start").get<double>(), event.at("end").get<double>(),
                             event.at("kind").get<std::string>()};
      const auto lane = event.at("lane").get<std::string>();
      if (lanes.empty() || lanes.back().label != lane) lanes.push_back({lane, {}});
      add_block(lanes.back(), block, shortest);
      together.blocks.push_back(block);
    }
    if (in_one_lane(together.blocks)) {
      std::sort(together.blocks.begin(), together.blocks.end(), earlier);
      TraceRow joined{name, {}};
      for (const TraceBlock& block : together.blocks) add_block(joined, block, shortest);
      figure.trace.push_back(std::move(joined));
    } else {
      if (lanes.size() > most_streams) lanes.resize(most_streams);
      lanes.front().label = fmt::format("{}: {}", name, lanes.front().label);
      for (TraceRow& lane : lanes) figure.trace.push_back(std::move(lane));
    }
  }
  figure.title = titled("timelines", cell.at("label").get<std::string>());
  figure.x_label = "time, in target runs";
  figure.caption = fmt::format(
      "Timelines of the first sequence; of a schedule with more than {0} lanes, the first {0}. A "
      "dropped run is one whose result was not used. trace.json has all runs, for "
      "chrome://tracing and Perfetto.",
      most_streams);
  return figure;
}

}  // namespace

std::vector<Table> schedule_tables(const Json& result, const std::string& id) {
  std::vector<Table> tables;
  const Json& cells = result.at("cells");
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (!cells[i].contains("schedules")) continue;
    tables.push_back(table_of(cells[i], fmt::format("{}-cell-{}", id, i + 1),
                              result.at("title").get<std::string>(),
                              result.at("interval_confidence").get<double>()));
  }
  return tables;
}

std::vector<Figure> schedule_figures(const Json& result) {
  std::vector<Figure> figures;
  if (std::optional<Figure> swept = sweep_figure(result)) figures.push_back(std::move(*swept));
  for (const Json& cell : result.at("cells")) {
    if (cell.contains("trace")) figures.push_back(timeline(cell));
  }
  return figures;
}

std::string schedules_csv(const Json& result) {
  const std::vector<std::string> sets = set_paths(result.at("cells"));
  std::vector<std::string> columns{"case"};
  columns.insert(columns.end(), sets.begin(), sets.end());
  for (const char* name : {"schedule", "kind", "alpha", "formula", "usual", "simulated_speed",
                           "simulated_speed_low", "simulated_speed_high", "inside", "error_percent",
                           "difference", "difference_low", "difference_high", "tokens"}) {
    columns.emplace_back(name);
  }
  std::vector<std::vector<CsvValue>> rows;
  for (const Json& cell : result.at("cells")) {
    for (const Json& schedule : cell.value("schedules", Json::array())) {
      const Json& alpha = cell.at("alpha");
      std::vector<CsvValue> row{cell.at("label").get<std::string>()};
      add_set_values(row, cell, sets);
      for (const Json& value :
           {schedule.at("name"), schedule.at("kind"), alpha.is_array() ? alpha[0] : alpha,
            schedule.at("formula"), schedule.contains("usual") ? schedule.at("usual").at("value") : Json()}) {
        row.push_back(csv_value(value));
      }
      add_interval(row, schedule, "simulated");
      const Json inside = schedule.value("inside", Json());
      row.emplace_back(inside.is_boolean() ? std::string(inside.get<bool>() ? "yes" : "no") : std::string());
      row.push_back(csv_value(schedule.value("error_percent", Json())));
      add_interval(row, schedule, "difference");
      row.push_back(csv_value(schedule.at("tokens")));
      rows.push_back(std::move(row));
    }
  }
  return csv(columns, rows);
}

Json chrome_trace(const Json& result) {
  constexpr double microseconds = 1000;  // in a target run
  Json events = Json::array();
  int process = 0;
  const auto name = [&](const char* what, int thread, const std::string& text) {
    events.push_back(
        {{"name", what}, {"ph", "M"}, {"pid", process}, {"tid", thread}, {"args", {{"name", text}}}});
  };
  for (const Json& cell : result.at("cells")) {
    for (const Json& trace : cell.value("trace", Json::array())) {
      ++process;
      name("process_name", 0, titled(trace.at("schedule").get<std::string>(), cell.at("label")));
      std::vector<std::string> lanes;
      for (const Json& event : trace.at("events")) {
        const auto lane = event.at("lane").get<std::string>();
        auto found = std::find(lanes.begin(), lanes.end(), lane);
        if (found == lanes.end()) {
          lanes.push_back(lane);
          found = lanes.end() - 1;
          name("thread_name", static_cast<int>(lanes.size()), lane);
        }
        const auto start = event.at("start").get<double>();
        events.push_back({{"name", event.at("kind")},
                          {"cat", trace.at("schedule")},
                          {"ph", "X"},
                          {"ts", microseconds * start},
                          {"dur", microseconds * (event.at("end").get<double>() - start)},
                          {"pid", process},
                          {"tid", found - lanes.begin() + 1},
                          {"args", {{"tokens", event.at("label")}}}});
      }
    }
  }
  if (process == 0) return nullptr;
  return {{"traceEvents", events}, {"displayTimeUnit", "ms"}};
}

}  // namespace speclab

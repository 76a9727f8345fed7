#include <fmt/format.h>

#include <utility>

#include "experiments/calibration_report.hpp"
#include "experiments/compare/comparison_report.hpp"
#include "experiments/presentation.hpp"
#include "experiments/schedule_report.hpp"

namespace speclab {

namespace {

constexpr std::size_t most_rows = 200;
constexpr std::size_t most_rows_open = 30;

void add_word(std::vector<TextSpan>& line, const Json& word, SpanKind kind) {
  if (!line.empty()) line.push_back({" ", SpanKind::plain});
  line.push_back({word.get<std::string>(), kind});
}

/// The rounds of one trace as text, one line a round (Leviathan et al. 2023, Figure 1).
Passage passage(const Json& trace, const std::string& id) {
  Passage text;
  text.id = id;
  text.caption = fmt::format(
      "γ = {}: {} tokens in {} target runs. Each line is one round: accepted tokens, then the first rejected "
      "one with "
      "its correction, or the bonus token.",
      trace.at("gamma").get<int>(), trace.at("tokens").get<std::size_t>(),
      trace.at("target_runs").get<std::size_t>());
  if (!trace.at("prompt").empty()) {
    std::vector<TextSpan>& prompt = text.lines.emplace_back();
    for (const Json& word : trace.at("prompt")) add_word(prompt, word, SpanKind::prompt);
  }
  for (const Json& round : trace.at("rounds")) {
    std::vector<TextSpan> line;
    const auto accepted = round.at("accepted").get<std::size_t>();
    for (std::size_t i = 0; i < accepted; ++i) {
      add_word(line, round.at("drafted")[i], SpanKind::accepted);
    }
    const bool corrected = accepted < round.at("drafted").size();
    if (corrected) add_word(line, round.at("drafted")[accepted], SpanKind::rejected);
    add_word(line, round.at("next"), corrected ? SpanKind::correction : SpanKind::bonus);
    text.lines.push_back(std::move(line));
  }
  return text;
}

Table trace_table(const Json& traces, const std::string& id) {
  Table table{
      id, "Runs", {"γ", "tokens", "target runs", "draft runs", "time in target runs", "speed-up"}, {}, ""};
  for (const Json& trace : traces) {
    const auto tokens = trace.at("tokens").get<double>();
    std::vector<Cell> row;
    for (const double value : {trace.at("gamma").get<double>(), tokens, trace.at("target_runs").get<double>(),
                               trace.at("draft_runs").get<double>(), trace.at("time").get<double>(),
                               tokens / trace.at("time").get<double>()}) {
      row.push_back({number_text(value), value, ""});
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table walltime_table(const Json& rows, const std::string& id) {
  Table table{id,
              "Measured on this machine",
              {"case", "γ", "target run, µs", "draft run, µs", "c", "tokens per run", "speed-up, predicted",
               "speed-up, measured"},
              {},
              "Prediction: measured tokens per run / (γc + 1) at the measured c (Theorem 3.8)."};
  for (const Json& row : rows) {
    std::vector<Cell> cells{{row.at("label").get<std::string>(), std::nullopt, ""}};
    for (const char* key : {"gamma", "target_run_microseconds", "draft_run_microseconds", "c",
                            "tokens_per_round", "predicted_speed", "speed"}) {
      cells.push_back({number_text(row.at(key).get<double>()), row.at(key).get<double>(), ""});
    }
    table.rows.push_back(std::move(cells));
  }
  return table;
}

}  // namespace

Section result_section(const Json& result, const Json& timings, const std::string& id,
                       const std::string& command) {
  const Json& config = result.at("config");
  Section section;
  section.id = id;
  section.title = result.at("title").get<std::string>();
  section.intro = config.at("about").get<std::string>();
  const auto source = config.at("source").get<std::string>();
  if (!source.empty()) section.notes.push_back("Source: " + source);
  section.notes.push_back("Seed " + config.at("seed").dump() + ". Redraw: " + command);
  if (result.at("partial").get<bool>()) section.notes.emplace_back("Interrupted: partial results.");

  const auto experiment = config.at("experiment").get<std::string>();
  if (experiment == "walltime") {
    section.tables.push_back(walltime_table(timings.at("walltime"), id + "-table"));
  } else if (experiment == "calibration") {
    for (std::size_t i = 0; i < result.at("cells").size(); ++i) {
      const Json& cell = result.at("cells")[i];
      if (!cell.contains("calibration")) continue;
      for (Table& table : calibration_tables(cell.at("calibration"), cell.at("label").get<std::string>(),
                                             fmt::format("{}-cell-{}", id, i + 1),
                                             result.at("interval_confidence").get<double>())) {
        section.tables.push_back(std::move(table));
      }
    }
  } else if (experiment == "compare") {
    section.tables = comparison_tables(result, id);
  } else if (experiment == "schedules") {
    section.tables = schedule_tables(result, id);
  } else if (experiment != "trace") {
    const bool single = result.at("cells").size() == 1;
    section.tables.push_back(single ? metric_table(result, id + "-table")
                                    : result_table(result, id + "-table", most_rows));
    if (single && result.at("cells")[0].contains("positions")) {
      section.tables.push_back(position_table(result.at("cells")[0], id + "-positions"));
    }
    section.tables.front().folded = section.tables.front().rows.size() > most_rows_open;
  }
  for (const Figure& figure : result_figures(result, id, command)) section.figures.push_back(draw(figure));
  std::size_t number = 0;
  for (const Json& cell : result.at("cells")) {
    if (cell.contains("note")) {
      section.notes.push_back(cell.at("label").get<std::string>() + ": " +
                              cell.at("note").get<std::string>());
    }
    if (!cell.contains("traces")) continue;
    section.tables.push_back(trace_table(cell.at("traces"), fmt::format("{}-runs-{}", id, ++number)));
    if (!config.at("trace").at("text").get<bool>()) continue;
    for (const Json& trace : cell.at("traces")) {
      section.passages.push_back(
          passage(trace, fmt::format("{}-text-{}-{}", id, number, section.passages.size() + 1)));
    }
  }
  return section;
}

}  // namespace speclab

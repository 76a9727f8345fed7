#include "experiments/presentation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "experiments/compare/comparison_report.hpp"
#include "experiments/csv_values.hpp"
#include "experiments/metrics.hpp"
#include "experiments/schedule_report.hpp"
#include "experiments/verifier_judgement.hpp"

namespace speclab {

namespace {

std::string plain_text(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

/// The simulated number of a metric, marked where it stands for a proof.
Cell simulated_cell(const Json& cell, const std::string& metric) {
  Cell shown = interval_cell(cell.at("simulated").at(metric));
  const Json proved = cell.value("proved", Json::array());
  if (std::find(proved.begin(), proved.end(), metric) != proved.end()) shown.text += " (proved)";
  return shown;
}

/// The test of `speclab check` beside a proof: its p-value, and what it would have found.
Cell witness_cell(const Json& cell) {
  if (!cell.contains("witness")) return {};
  const Json& witness = cell.at("witness");
  const bool equal = witness.at("verdict") == "equal";
  return {fmt::format("{}, p = {:.2g}, finds TV {:.2g}", plain_text(witness.at("verdict")),
                      witness.at("pearson_p").get<double>(),
                      witness.at("detectable_total_variation").get<double>()),
          std::nullopt, equal ? "good" : "bad"};
}

std::vector<std::string> shown_metrics(const Json& result) {
  const Json& config = result.at("config");
  if (config.contains("metrics")) return config.at("metrics").get<std::vector<std::string>>();
  const auto experiment = config.at("experiment").get<std::string>();
  if (experiment == "acceptance") return {"alpha_overlap"};
  if (experiment == "predict") return {"tokens_per_round", "speed", "operations", "optimal_gamma"};
  if (experiment == "optimal_gamma") return {"optimal_gamma", "best_speed"};
  if (experiment == "verifiers") {
    return {"first_acceptance", "optimum", "tokens_per_round", "speed", "tv_to_target", "regret"};
  }
  if (experiment == "beam")
    return {"accepted_per_round", "tokens_per_round", "speed", "target_rows", "identical_beams"};
  if (experiment == "decode") return {"alpha_overlap", "tokens_per_round", "speed", "operations"};
  if (experiment == "iid") return {"alpha_examined", "tokens_per_round", "speed", "operations"};
  return {};
}

bool any_cell_has(const Json& cells, const char* table, const std::string& metric) {
  return std::any_of(cells.begin(), cells.end(), [&](const Json& cell) {
    return cell.contains(table) && cell.at(table).contains(metric);
  });
}

std::vector<std::string> measured_names(const Json& cells) {
  std::vector<std::string> names;
  for (const Json& cell : cells) {
    if (!cell.contains("measured")) continue;
    for (const auto& [name, value] : cell.at("measured").items()) {
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
  }
  return names;
}

std::string cells_text(const Json& result) {
  const std::size_t cells = result.at("cells").size();
  const char* partial = result.at("partial").get<bool>() ? " (interrupted: partial)" : "";
  return fmt::format("{} {}{}", cells, cells == 1 ? "cell" : "cells", partial);
}

/// "reproduces; formula inside 6 of 6 intervals": the printed values, by metric where they differ, then the
/// formula.
Cell verdict_cell(const Json& cell) {
  std::string text;
  std::string css = "good";
  if (cell.contains("verdict")) {
    const Json& verdicts = cell.at("verdict");
    const auto same = [&](const Json& verdict) { return verdict == verdicts.front(); };
    const bool alike = std::all_of(verdicts.begin(), verdicts.end(), same);
    for (const auto& [metric, verdict] : verdicts.items()) {
      if (verdict == "within input rounding" && css != "bad") css = "note";
      if (verdict == "does not reproduce") css = "bad";
      if (alike && !text.empty()) continue;
      if (!text.empty()) text += "; ";
      text += alike ? plain_text(verdict) : fmt::format("{} {}", metric_label(metric), plain_text(verdict));
    }
  }
  if (cell.contains("agreement")) {
    const Agreement agreement = cell_agreement(cell);
    text += fmt::format("{}formula inside {} of {} intervals", text.empty() ? "" : "; ", agreement.held,
                        agreement.judged);
    if (agreement.held < agreement.judged) css = "bad";
  }
  if (cell.contains("capped") && cell.at("capped").get<bool>()) text += "; beyond the largest γ simulated";
  if (cell.contains("partial")) {
    text = "interrupted: partial";
    css = "bad";
  }
  return {text, std::nullopt, text.empty() ? "" : css};
}

}  // namespace

std::string interval_note(const Json& result) {
  const Json& config = result.at("config");
  return fmt::format("± is the {:.6g}% interval{}.", 100 * result.at("interval_confidence").get<double>(),
                     config.at("simultaneous").get<bool>()
                         ? fmt::format(", so wide that all of this table hold together with {:.6g}%",
                                       100 * config.at("confidence").get<double>())
                         : "");
}

Agreement cell_agreement(const Json& cell) {
  Agreement agreement;
  if (!cell.contains("agreement")) return agreement;
  agreement.judged = cell.at("agreement").size();
  for (const auto& [metric, ok] : cell.at("agreement").items()) agreement.held += ok.get<bool>() ? 1 : 0;
  return agreement;
}

Agreement result_agreement(const Json& result) {
  Agreement all;
  for (const Json& cell : result.at("cells")) {
    const Agreement one = cell_agreement(cell);
    all.held += one.held;
    all.judged += one.judged;
  }
  return all;
}

std::string number_text(double value) {
  if (!std::isfinite(value)) return "–";
  if (value == 0) return "0";
  const double size = std::abs(value);
  if (std::floor(value) == value && size < 1e6) return fmt::format("{:.0f}", value);
  return size >= 0.001 && size < 1e6 ? fmt::format("{:.4g}", value) : fmt::format("{:.3e}", value);
}

std::string interval_text(const Json& interval) {
  const double value = interval[0].get<double>();
  // Bounds are infinite with a single batch, and null once they have been through a file.
  const bool bounded = interval[1].is_number() && interval[2].is_number();
  const double half = bounded ? (interval[2].get<double>() - interval[1].get<double>()) / 2 : std::nan("");
  if (!std::isfinite(half)) return fmt::format("{} ± ?", number_text(value));
  if (!(half > 0)) return number_text(value);
  // Two digits of the half-width say how many of the estimate mean anything.
  const int digits = std::clamp(1 - static_cast<int>(std::floor(std::log10(half))), 0, 9);
  return fmt::format("{:.{}f} ± {:.{}f}", value, digits, half, digits);
}

Cell number_cell(double value) { return {number_text(value), value, ""}; }

Cell number_cell(const Json& value) { return value.is_number() ? number_cell(value.get<double>()) : Cell{}; }

Cell interval_cell(const Json& interval) {
  if (!interval.is_array()) return {};
  return {interval_text(interval), interval[0].get<double>(), ""};
}

std::string titled(const std::string& what, const std::string& label) {
  return label.empty() ? what : fmt::format("{}: {}", label, what);
}

Table result_table(const Json& result, const std::string& id, std::size_t most_rows) {
  const Json& cells = result.at("cells");
  const std::vector<std::string> shown = shown_metrics(result);
  const std::vector<std::string> measured = measured_names(cells);
  Table table;
  table.id = id;
  table.caption = result.at("title").get<std::string>();
  table.columns.emplace_back("case");
  std::vector<std::pair<const char*, std::string>> numbers;
  for (const std::string& metric : shown) {
    for (const char* kind : {"printed", "formula", "simulated"}) {
      if (!any_cell_has(cells, kind, metric)) continue;
      numbers.emplace_back(kind, metric);
      table.columns.push_back(fmt::format("{}, {}", metric_label(metric), kind));
    }
  }
  for (const std::string& name : measured) table.columns.push_back(name);
  const bool witnessed =
      std::any_of(cells.begin(), cells.end(), [](const Json& c) { return c.contains("witness"); });
  if (witnessed) table.columns.emplace_back("test of equality");
  table.columns.emplace_back("verdict");

  for (const Json& cell : cells) {
    if (table.rows.size() == most_rows) break;
    std::vector<Cell> row{{cell.at("label").get<std::string>(), std::nullopt, ""}};
    for (const auto& [kind, metric] : numbers) {
      const Json value = cell.contains(kind) ? cell.at(kind).value(metric, Json()) : Json();
      if (value.is_null()) {
        row.emplace_back();
      } else if (value.is_string()) {
        row.push_back({value.get<std::string>(), std::stod(value.get<std::string>()), ""});
      } else {
        row.push_back(value.is_array() ? simulated_cell(cell, metric) : number_cell(value.get<double>()));
      }
    }
    for (const std::string& name : measured) {
      const bool has = cell.contains("measured") && cell.at("measured").contains(name);
      row.push_back(has ? Cell{cell.at("measured").at(name).get<std::string>(), std::nullopt, ""} : Cell{});
    }
    if (witnessed) row.push_back(witness_cell(cell));
    row.push_back(verdict_cell(cell));
    table.rows.push_back(std::move(row));
  }
  // A table that judges nothing needs no column for it.
  const bool silent = std::all_of(table.rows.begin(), table.rows.end(),
                                  [](const auto& row) { return row.back().text.empty(); });
  if (silent) {
    table.columns.pop_back();
    for (auto& row : table.rows) row.pop_back();
  }
  const bool simulates =
      std::any_of(cells.begin(), cells.end(), [](const Json& c) { return c.contains("simulated"); });
  if (simulates) table.note = interval_note(result);
  if (simulates && result.at("config").at("experiment") == "verifiers") table.note += " " + judgement_note();
  if (cells.size() > most_rows) {
    table.note += fmt::format(" The first {} of {} rows; all are in results.csv.", most_rows, cells.size());
  }
  return table;
}

std::string result_csv(const Json& result) {
  if (result.at("config").at("experiment") == "schedules") return schedules_csv(result);
  if (result.at("config").at("experiment") == "compare") return comparison_csv(result);
  const Json& cells = result.at("cells");
  const std::vector<std::string> sets = set_paths(cells);
  std::vector<std::pair<const char*, std::string>> numbers;
  for (const char* kind : {"printed", "formula", "simulated"}) {
    for (const Metric& metric : metrics()) {
      if (any_cell_has(cells, kind, metric.name)) numbers.emplace_back(kind, metric.name);
    }
  }
  std::vector<std::string> columns{"label"};
  for (const std::string& path : sets) columns.push_back(path);
  for (const auto& [kind, metric] : numbers) {
    columns.push_back(fmt::format("{}_{}", kind, metric));
    if (std::string_view(kind) == "simulated") {
      columns.push_back(fmt::format("{}_{}_low", kind, metric));
      columns.push_back(fmt::format("{}_{}_high", kind, metric));
    }
  }
  columns.emplace_back("verdict");

  std::vector<std::vector<CsvValue>> rows;
  for (const Json& cell : cells) {
    std::vector<CsvValue> row{cell.at("label").get<std::string>()};
    add_set_values(row, cell, sets);
    for (const auto& [kind, metric] : numbers) {
      const Json of_kind = cell.value(kind, Json::object());
      if (std::string_view(kind) == "simulated") {
        add_interval(row, of_kind, metric.c_str());
      } else {
        row.push_back(csv_value(of_kind.value(metric, Json())));
      }
    }
    row.emplace_back(verdict_cell(cell).text);
    rows.push_back(std::move(row));
  }
  return csv(columns, rows);
}

std::vector<std::vector<Cell>> summary_rows(const Json& result, const std::string& name) {
  std::vector<std::vector<Cell>> rows;
  for (const Json& cell : result.at("cells")) {
    if (!cell.contains("verdict")) continue;
    for (const auto& [metric, verdict] : cell.at("verdict").items()) {
      const auto words = verdict.get<std::string>();
      std::string simulated;
      if (cell.contains("simulated") && cell.at("simulated").contains(metric)) {
        simulated = interval_text(cell.at("simulated").at(metric));
      }
      const std::string css = words == "reproduces" ? "good" : words == "does not reproduce" ? "bad" : "note";
      const double formula_value = cell.at("formula").value(metric, std::nan(""));
      rows.push_back(
          {{fmt::format("{}: {}, {}", name, cell.at("label").get<std::string>(), metric_label(metric)),
            {},
            ""},
           {cell.at("printed").at(metric).get<std::string>(), {}, ""},
           number_cell(formula_value),
           {simulated, {}, ""},
           {words, {}, css}});
    }
  }
  const Agreement agreement = result_agreement(result);
  if (agreement.judged > 0) {
    rows.push_back({{fmt::format("{}: all {}", name, cells_text(result)), {}, ""},
                    {"", {}, ""},
                    {"", {}, ""},
                    {"", {}, ""},
                    {fmt::format("formula inside {} of {} intervals", agreement.held, agreement.judged),
                     {},
                     agreement.held == agreement.judged ? "good" : "bad"}});
  } else if (rows.empty()) {
    const bool drawn = result.at("config").at("experiment") == "trace";
    const std::string outcome = drawn ? "drawn from recorded rounds" : "measured here";
    rows.push_back({{fmt::format("{}: {}", name, cells_text(result)), {}, ""},
                    {"", {}, ""},
                    {"", {}, ""},
                    {"", {}, ""},
                    {outcome, {}, "note"}});
  }
  return rows;
}

Table metric_table(const Json& result, const std::string& id) {
  const Json& cell = result.at("cells").front();
  const bool measured = cell.value("formula_alpha", "") == "measured";
  Table table{id,
              result.at("title").get<std::string>(),
              {"metric", measured ? "formula at the measured α" : "formula", "simulated ± interval",
               "formula inside"},
              {},
              interval_note(result)};
  for (const Metric& metric : metrics()) {
    const bool simulated = cell.contains("simulated") && cell.at("simulated").contains(metric.name);
    const bool computed = cell.contains("formula") && cell.at("formula").contains(metric.name);
    if (!simulated && !computed) continue;
    const bool judged = cell.contains("agreement") && cell.at("agreement").contains(metric.name);
    const bool held = judged && cell.at("agreement").at(metric.name).get<bool>();
    table.rows.push_back(
        {{metric.label, std::nullopt, ""},
         computed ? number_cell(cell.at("formula").at(metric.name).get<double>()) : Cell{},
         simulated ? simulated_cell(cell, metric.name) : Cell{},
         {judged ? (held ? "yes" : "no") : "", std::nullopt, held || !judged ? "good" : "bad"}});
  }
  return table;
}

Table position_table(const Json& cell, const std::string& id) {
  Table table{
      id, "Acceptance by position", {"position", "αⁱ", "P[accepted]", "P[accepted | those before]"}, {}, ""};
  const Json exact = cell.value("exact_alpha", Json());
  const Json& positions = cell.at("positions");
  for (std::size_t i = 0; i < positions.size(); ++i) {
    const auto position = static_cast<double>(i + 1);
    const Json& unconditional = positions[i].at("unconditional");
    const Json& conditional = positions[i].at("conditional");
    table.rows.push_back({number_cell(position),
                          exact.is_number() ? number_cell(std::pow(exact.get<double>(), position)) : Cell{},
                          unconditional.is_array() ? interval_cell(unconditional) : Cell{},
                          conditional.is_array() ? interval_cell(conditional) : Cell{}});
  }
  return table;
}

Table summary_table(std::vector<std::vector<Cell>> rows) {
  return {"summary",
          "Paper, formula, simulation",
          {"what", "paper", "formula", "simulated ± interval", "verdict"},
          std::move(rows),
          ""};
}

}  // namespace speclab

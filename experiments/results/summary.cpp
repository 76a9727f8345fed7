#include "experiments/results/summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "experiments/base/format/csv_values.hpp"
#include "experiments/base/page/cells.hpp"
#include "experiments/base/support/csv.hpp"
#include "experiments/results/metric_tables.hpp"
#include "experiments/results/presentation.hpp"

namespace speclab {

namespace {

const char* css_class(Reproduction verdict) {
  return verdict == Reproduction::reproduces           ? "good"
         : verdict == Reproduction::does_not_reproduce ? "bad"
                                                       : "note";
}

/// Returns the metric to which the values in "measured" refer: the first metric of the result's tables.
std::optional<Metric> measured_metric(const Result& result) {
  const std::vector<Metric> shown = shown_metrics(result);
  return shown.empty() ? std::nullopt : std::optional(shown.front());
}

}  // namespace

void Summary::add(const Result& result, const std::string& name) {
  const auto row = [&](std::size_t at, std::optional<Metric> metric) -> Row& {
    const CellResult& cell = result.cells[at];
    Row& made = rows_.emplace_back();
    made.config = name;
    made.cell = at;
    made.label = cell.label;
    made.metric = metric;
    if (metric) {
      made.formula = value_of(cell.formula, *metric);
      made.simulated = value_of(cell.simulated, *metric);
      made.simulated_text = simulated_cell(cell, *metric).text;
    }
    return made;
  };
  Part& part = parts_.emplace_back();
  part.name = name;
  // The title is shown without the changes by --set, too.
  part.title = result.title.substr(0, std::min(result.title.find(": "), result.title.find(", with ")));
  for (std::size_t at = 0; at < result.cells.size(); ++at) {
    const CellResult& cell = result.cells[at];
    for (const auto& [metric, verdict] : cell.verdict) {
      Row& made = row(at, metric);
      made.source = judged_source;
      made.printed = *printed_value(cell, metric);
      made.verdict = {words(verdict), {}, css_class(verdict)};
      ++(verdict == Reproduction::reproduces              ? part.reproduce
         : verdict == Reproduction::cut_off               ? part.cut_off
         : verdict == Reproduction::within_input_rounding ? part.within_rounding
                                                          : part.not_found);
    }
    for (const auto& [source, value] : cell.measured) {
      Row& made = row(at, measured_metric(result));
      made.source = source;
      made.printed = value;
      made.verdict = {"not judged", {}, "note"};
      made.why = result.shown().measured_note.value_or("");
    }
  }
  Cell outcome;
  const Agreement found = part.agreement = agreement(result);
  if (found.compared > 0) {
    outcome = {agreement_text(found), {}, found.held == found.compared ? "good" : "bad"};
  } else if (part.judged() == 0) {
    part.outcome = presentation_of(result.shown()).outcome;
    outcome = {part.outcome, {}, "note"};
  } else {
    return;
  }
  Row& all = rows_.emplace_back();
  all.config = name;
  const std::size_t cells = result.cells.size();
  all.label = fmt::format("all {} {}{}", cells, cells == 1 ? "cell" : "cells",
                          result.partial ? " (interrupted: partial)" : "");
  all.verdict = std::move(outcome);
}

void Summary::add_failure(const std::string& name, const std::string& sentence) {
  Row& made = rows_.emplace_back();
  made.config = name;
  made.verdict = {"not run: " + sentence, {}, "bad"};
}

Table Summary::sections() const {
  Table table{"sections", "Section by section", {"section", "printed numbers", "formula within intervals"}};
  for (const Part& part : parts_) {
    Cell printed{part.outcome, {}, "note"};
    if (part.judged() > 0) {
      printed.text = fmt::format("{} of {} reproduce", part.reproduce, part.judged());
      if (part.cut_off > 0) printed.text += fmt::format(", {} cut off", part.cut_off);
      if (part.within_rounding > 0)
        printed.text += fmt::format(", {} within input rounding", part.within_rounding);
      if (part.not_found > 0) printed.text += fmt::format(", {} not", part.not_found);
      printed.css_class = part.not_found > 0 ? "bad" : part.reproduce < part.judged() ? "note" : "good";
    }
    Cell intervals;
    if (part.agreement.compared > 0) {
      intervals = {fmt::format("{} of {}", part.agreement.held, part.agreement.compared),
                   {},
                   part.agreement.held == part.agreement.compared ? "good" : "bad"};
    }
    Cell title = text_cell(part.title);
    title.section = part.name;
    table.rows.push_back({std::move(title), std::move(printed), std::move(intervals)});
  }
  return table;
}

Table Summary::table() const {
  Table table{"summary",
              "Paper, formula, simulation",
              {"what", "paper", "formula", "simulated ± interval", "verdict"}};
  for (const Row& row : rows_) {
    if (!row.judged()) continue;
    std::string what = row.config;
    if (!row.label.empty()) what += ": " + row.label;
    if (row.metric) what += fmt::format(", {}", metric_label(*row.metric));
    table.rows.push_back({text_cell(what), text_cell(row.printed),
                          row.cell ? number_cell(row.formula.value_or(std::nan(""))) : Cell{},
                          text_cell(row.simulated_text), row.verdict});
  }
  return table;
}

std::string Summary::csv() const {
  std::vector<std::string> columns{"config", "cell", "label", "metric", "source", "printed", "formula"};
  add_interval_columns(columns, "simulated");
  columns.insert(columns.end(), {"verdict", "why"});
  std::vector<std::vector<CsvValue>> rows;
  for (const Row& row : rows_) {
    std::vector<CsvValue>& values = rows.emplace_back();
    values.emplace_back(row.config);
    values.push_back(row.cell ? CsvValue(std::uint64_t{*row.cell}) : CsvValue(std::string()));
    values.emplace_back(row.label);
    values.emplace_back(row.metric ? metric_name(*row.metric) : std::string());
    values.emplace_back(row.source);
    values.emplace_back(row.printed);
    values.push_back(csv_value(row.formula));
    add_interval(values, row.simulated);
    values.emplace_back(row.verdict.text);
    values.emplace_back(row.why);
  }
  return speclab::csv(columns, rows);
}

Table measured_table(const Result& result, const std::string& id) {
  Table table{id, result.title, {"case"}};
  const std::optional<Metric> metric = measured_metric(result);
  const auto any = [&](const auto& values) {
    return metric && std::any_of(result.cells.begin(), result.cells.end(), [&](const CellResult& cell) {
             return find(cell.*values, *metric) != nullptr;
           });
  };
  const bool formula = any(&CellResult::formula);
  const bool simulated = any(&CellResult::simulated);
  if (formula && !simulated) table.columns.push_back(fmt::format("{}, formula", metric_label(*metric)));
  if (simulated) table.columns.push_back(fmt::format("{}, here", metric_label(*metric)));
  const std::vector<std::string> names = measured_names(result.cells);
  table.columns.insert(table.columns.end(), names.begin(), names.end());
  for (const CellResult& cell : result.cells) {
    if (cell.measured.empty()) continue;
    std::vector<Cell>& row = table.rows.emplace_back();
    row.push_back(text_cell(cell.label));
    if (formula && !simulated) row.push_back(number_cell(value_of(cell.formula, *metric)));
    if (simulated) row.push_back(simulated_cell(cell, *metric));
    for (const std::string& name : names) row.push_back(text_cell(measured_text(cell, name)));
  }
  table.note = result.shown().measured_note.value_or("");
  return table;
}

}  // namespace speclab

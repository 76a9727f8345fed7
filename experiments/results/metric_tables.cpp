#include "experiments/results/metric_tables.hpp"
#include "experiments/config/cells.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "experiments/base/page/cells.hpp"
#include "experiments/results/presentation.hpp"

namespace speclab {

namespace {

Cell printed_cell(const CellResult& cell, Metric metric) {
  const std::string* value = printed_value(cell, metric);
  return value != nullptr ? Cell{*value, std::stod(*value)} : Cell{};
}

Cell formula_cell(const CellResult& cell, Metric metric) {
  return number_cell(value_of(cell.formula, metric));
}

/// Returns a note on why α differs by more than chance between cells that differ only in γ; empty if it does
/// not.
std::string texts_note(const std::vector<CellResult>& cells) {
  double highest_low = 0;
  double lowest_high = 1;
  std::optional<std::uint64_t> least;
  std::uint64_t most = 0;
  for (const CellResult& cell : cells) {
    const Interval* alpha = find(cell.simulated, Metric::alpha_overlap);
    if (alpha == nullptr || cell.set.size() != 1 || cell.set.front().first != "/gamma") return "";
    highest_low = std::max(highest_low, alpha->low);
    lowest_high = std::min(lowest_high, alpha->high);
    const std::uint64_t emitted = cell.counts.emitted.value_or(0);
    least = std::min(least.value_or(emitted), emitted);
    most = std::max(most, emitted);
  }
  if (highest_low <= lowest_high) return "";
  return fmt::format(
      " {} differs because cells decode texts of different lengths, {} to {} tokens for the same number of rounds; in one text it does not depend on γ.",
      metric_label(Metric::alpha_overlap), *least, most);
}

/// Returns whether a cell of decoding lacks alpha_overlap and formulas because its rule has no acceptance
/// rate in a context.
bool lacks_rate(const CellResult& cell) {
  return (cell.engine || cell.counts.contexts) && !cell.formula_alpha &&
         find(cell.simulated, Metric::alpha_overlap) == nullptr;
}

std::string rate_note(const Result& result) {
  const std::vector<Metric> shown = shown_metrics(result);
  if (result.cells.size() > 1 && std::ranges::find(shown, Metric::alpha_overlap) == shown.end()) return "";
  if (std::ranges::none_of(result.cells, lacks_rate)) return "";
  return fmt::format(" A rule without an acceptance rate in a context has no {} (–) and no formulas.",
                     metric_label(Metric::alpha_overlap));
}

/// A kind of number that a table shows for a metric, in its own column.
struct NumberKind {
  const char* word;
  Cell (*cell)(const CellResult& cell, Metric metric);
};
constexpr std::array number_kinds{NumberKind{"printed", printed_cell}, NumberKind{"formula", formula_cell},
                                  NumberKind{"simulated", simulated_cell}};

void append(std::string& text, const std::string& more) {
  if (!text.empty() && !more.empty()) text += "; ";
  text += more;
}

}  // namespace

Cell simulated_cell(const CellResult& cell, Metric metric) {
  const Interval* interval = find(cell.simulated, metric);
  if (interval == nullptr) return {metric == Metric::alpha_overlap && lacks_rate(cell) ? "–" : ""};
  Cell shown = interval_cell(*interval);
  if (std::ranges::find(cell.proved, metric) != cell.proved.end()) shown.text += " (proved)";
  return shown;
}

std::string agreement_text(const Agreement& agreement) {
  return fmt::format("formula in {} of {}", agreement.held, agreement.compared);
}

std::optional<double> estimate_of(const CellResult& cell, Metric metric) {
  if (const Interval* simulated = find(cell.simulated, metric)) return simulated->estimate;
  return value_of(cell.formula, metric);
}

std::string measured_text(const CellResult& cell, const std::string& name) {
  const std::string* value = find(cell.measured, name);
  return value != nullptr ? *value : "";
}

std::vector<std::string> measured_names(const std::vector<CellResult>& cells) {
  std::vector<std::string> names;
  for (const CellResult& cell : cells) {
    for (const auto& [name, value] : cell.measured) {
      if (std::ranges::find(names, name) == names.end()) names.push_back(name);
    }
  }
  return names;
}

std::vector<Metric> shown_metrics(const Result& result) {
  return result.shown().metrics.value_or(presentation_of(result.shown()).metrics.shown);
}

Cell verdict_cell(const Result& result, const CellResult& cell) {
  if (cell.partial) return {"interrupted: partial", std::nullopt, "bad"};
  std::string text;
  std::string css = "good";
  const bool alike = std::ranges::all_of(
      cell.verdict, [&](const auto& one) { return one.second == cell.verdict.front().second; });
  for (const auto& [metric, verdict] : cell.verdict) {
    if (verdict != Reproduction::reproduces && css != "bad") css = "note";
    if (verdict == Reproduction::does_not_reproduce) css = "bad";
    if (!alike) append(text, fmt::format("{} {}", metric_label(metric), words(verdict)));
  }
  if (alike && !cell.verdict.empty()) append(text, words(cell.verdict.front().second));
  if (const Agreement found = agreement(cell); found.compared > 0) {
    append(text, agreement_text(found));
    if (found.held < found.compared) css = "bad";
  }
  if (const auto& remark = presentation_of(result.shown()).metrics.remark) append(text, remark(cell));
  if (cell.until && !cell.until->reached) {
    append(text, "still wider than requested at the limit on rounds");
    css = "bad";
  }
  if (has_unknown_error(cell)) append(text, "too few independent sequences for intervals");
  return {text, std::nullopt, text.empty() ? "" : css};
}

std::string interval_note(const Result& result, std::uint64_t min_sequences) {
  std::string note = fmt::format(
      "± is the {} interval{}.", confidence_percent(result.interval_confidence),
      result.shown().simultaneous
          ? fmt::format(", widened so that all intervals of this table hold jointly with confidence {}",
                        confidence_percent(result.shown().confidence))
          : "");
  if (std::ranges::any_of(result.cells, [](const CellResult& cell) { return cell.until.has_value(); }))
    note +=
        " Where a simulation ended because its interval was narrow enough, it holds jointly over all looks.";
  const auto missed = [](const CellResult& cell) { return cell.until && !cell.until->reached; };
  if (const auto wide = std::ranges::count_if(result.cells, missed); wide > 0)
    note += fmt::format(
        " WARNING: {} of {} simulations ended at the limit on rounds, with an interval still wider than requested.",
        wide, result.cells.size());
  if (std::ranges::any_of(result.cells, has_unknown_error))
    note += fmt::format(" {}", unknown_error_note(min_sequences));
  for (const CellResult& cell : result.cells) {
    if (!cell.rule || !cell.rule->entry().note) continue;
    note += fmt::format(" {}", cell.rule->entry().note(*cell.rule));
    break;
  }
  for (const CellResult& cell : result.cells) {
    if (!cell.engine || !cell.engine->why_plain) continue;
    note += fmt::format(" Decoded by the plain engine, which reads whole rows: {}.", *cell.engine->why_plain);
    break;
  }
  return note;
}

std::string unknown_error_note(std::uint64_t min_sequences) {
  return fmt::format(
      "± ?: the error is unknown. Tokens of one sequence depend on those before them, and fewer than {} sequences do not show how strongly: give more sequences, which may be shorter.",
      min_sequences);
}

Table result_table(const Result& result, const std::string& id, std::size_t max_rows) {
  const std::vector<CellResult>& cells = result.cells;
  const std::vector<std::string> measured = measured_names(cells);
  const MetricTable& shown = presentation_of(result.shown()).metrics;
  Table table;
  table.id = id;
  table.caption = result.title;
  table.columns.emplace_back("case");
  std::vector<std::pair<NumberKind, Metric>> numbers;
  for (const Metric metric : shown_metrics(result)) {
    for (const NumberKind& kind : number_kinds) {
      if (std::ranges::none_of(cells,
                               [&](const auto& cell) { return !kind.cell(cell, metric).text.empty(); }))
        continue;
      numbers.emplace_back(kind, metric);
      table.columns.push_back(fmt::format("{}, {}", metric_label(metric), kind.word));
    }
  }
  table.columns.insert(table.columns.end(), measured.begin(), measured.end());
  const std::vector<std::string> more = shown.columns ? shown.columns(result) : std::vector<std::string>{};
  table.columns.insert(table.columns.end(), more.begin(), more.end());
  table.columns.emplace_back("verdict");

  for (const CellResult& cell : cells) {
    if (table.rows.size() == max_rows) break;
    std::vector<Cell> row{text_cell(cell_name(result.shown(), cell))};
    for (const auto& [kind, metric] : numbers) row.push_back(kind.cell(cell, metric));
    for (const std::string& name : measured) row.push_back(text_cell(measured_text(cell, name)));
    if (!more.empty()) {
      for (Cell& one : shown.cells(cell)) row.push_back(std::move(one));
    }
    row.push_back(verdict_cell(result, cell));
    table.rows.push_back(std::move(row));
  }
  // A table without verdicts needs no column for them.
  const bool silent =
      std::ranges::all_of(table.rows, [](const auto& row) { return row.back().text.empty(); });
  if (silent) {
    table.columns.pop_back();
    for (auto& row : table.rows) row.pop_back();
  }
  const bool simulates = std::ranges::any_of(
      cells, [](const CellResult& cell) { return !cell.simulated.empty() || lacks_rate(cell); });
  if (simulates) table.note = interval_note(result) + texts_note(cells) + rate_note(result);
  if (simulates && !shown.note.empty()) table.note += " " + shown.note;
  if (!measured.empty() && result.shown().measured_note) {
    if (!table.note.empty()) table.note += ' ';
    table.note += *result.shown().measured_note;
  }
  if (cells.size() > max_rows) {
    table.note += fmt::format(" The first {} of {} rows; all are in results.csv.", max_rows, cells.size());
  }
  return table;
}

Table metric_table(const Result& result, const std::string& id) {
  const CellResult& cell = result.cells.front();
  const bool measured = cell.formula_alpha == AlphaSource::measured;
  Table table{id,
              result.title,
              {"metric", measured ? "formula at the measured α" : "formula", "simulated ± interval",
               "formula within interval"},
              {},
              interval_note(result) + rate_note(result)};
  for (const MetricInfo& info : metric_infos()) {
    const std::optional<double> formula = value_of(cell.formula, info.metric);
    const Cell simulated = simulated_cell(cell, info.metric);
    if (!formula && simulated.text.empty()) continue;
    const auto compared =
        std::ranges::find_if(cell.agreement, [&](const auto& one) { return one.first == info.name; });
    const bool judged = compared != cell.agreement.end();
    const bool held = judged && compared->second;
    table.rows.push_back(
        {text_cell(info.label),
         number_cell(formula),
         simulated,
         {judged ? (held ? "yes" : "no") : "", std::nullopt, held || !judged ? "good" : "bad"}});
  }
  if (const auto& remark = presentation_of(result.shown()).metrics.remark) {
    if (const std::string text = remark(cell); !text.empty()) table.note += fmt::format(" {}.", text);
  }
  return table;
}

Table position_table(const CellResult& cell, const std::string& id) {
  Table table{
      id, "Acceptance by position", {"position", "αⁱ", "P[accepted]", "P[accepted | those before]"}, {}, ""};
  for (std::size_t i = 0; i < cell.positions.size(); ++i) {
    const auto position = static_cast<double>(i + 1);
    table.rows.push_back({number_cell(position),
                          cell.exact_alpha ? number_cell(std::pow(*cell.exact_alpha, position)) : Cell{},
                          interval_cell(cell.positions[i].unconditional),
                          interval_cell(cell.positions[i].conditional)});
  }
  return table;
}

}  // namespace speclab

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "experiments/format/csv_values.hpp"
#include "experiments/format/named_entry.hpp"
#include "experiments/page/cells.hpp"
#include "experiments/results/metric_tables.hpp"
#include "experiments/run/experiment.hpp"
#include "experiments/run/result_rows.hpp"
#include "experiments/studies/compare/compare_cells.hpp"

namespace speclab {

namespace {

Cell interval_or_none(const std::optional<Interval>& interval) {
  return interval ? interval_cell(*interval) : text_cell("–");
}

/// Task and drafter, and what the sweep set besides.
std::vector<Cell> head(const CellResult& cell) {
  const std::string task = set_text(cell, "task");
  const std::string drafter = set_text(cell, "drafter");
  const std::string both = task + ": " + drafter;
  const std::size_t extra = cell.label.size() - std::min(cell.label.size(), both.size());
  const std::string before = extra > 2 ? cell.label.substr(0, extra - 2) + ", " : "";
  return {text_cell(before + task), text_cell(drafter)};
}

/// A row without numbers, which says that it was interrupted, or leaves the reason to a note.
std::vector<Cell> empty_row(const CellResult& cell, std::size_t columns) {
  std::vector<Cell> row = head(cell);
  if (cell.own == nullptr) row.push_back({"interrupted", std::nullopt, "bad"});
  row.resize(columns, text_cell("–"));
  return row;
}

/// Which cells have their best gamma at an end of the grid, beyond which it may be better.
std::string edges(const Result& result) {
  std::string largest;
  for (const CellResult& cell : result.cells) {
    const CompareResult* comparison = numbers_of(cell);
    if (comparison == nullptr || comparison->gammas.size() < 2) continue;
    const auto top =
        std::max_element(comparison->gammas.begin(), comparison->gammas.end(),
                         [](const GammaResult& a, const GammaResult& b) { return a.gamma < b.gamma; });
    if (comparison->best_gamma == top->gamma) largest += (largest.empty() ? "" : "; ") + cell.label;
  }
  if (largest.empty()) return "";
  return fmt::format(
      "WARNING: the best γ is the largest of compare.gammas, and a larger one may be better, for {}.\n",
      largest);
}

/// Which cells have intervals that are wider than asked for.
std::string too_wide(const Result& result) {
  std::string wide;
  for (const CellResult& cell : result.cells) {
    if (!cell.until || cell.until->reached || numbers_of(cell) == nullptr) continue;
    wide += fmt::format("{}{} ({} sequences)", wide.empty() ? "" : "; ", cell.label, cell.until->trials);
  }
  if (wide.empty()) return "";
  return fmt::format(
      "WARNING: intervals are wider than asked for where documents, or the most rounds allowed, did not "
      "suffice for twice the sequences: {}.\n",
      wide);
}

/// Why cells have no numbers.
std::string reasons(const Result& result) {
  std::string text;
  for (const CellResult& cell : result.cells) {
    if (numbers_of(cell) != nullptr || cell.own == nullptr) continue;
    text += fmt::format(" {}: {}.", cell.label, own<CompareResult>(cell).unsupported_reason);
  }
  return text;
}

/// How much of an interrupted comparison there is; empty for a whole one.
std::string interruption(const Result& result) {
  if (!result.partial) return "";
  const auto interrupted = std::count_if(result.cells.begin(), result.cells.end(),
                                         [](const CellResult& cell) { return cell.own == nullptr; });
  return fmt::format("Interrupted: partial. {} of {} cells are finished.\n",
                     static_cast<std::ptrdiff_t>(result.cells.size()) - interrupted, result.cells.size());
}

Table drafters_table(const Result& result, const std::string& id) {
  Table table{id,
              result.title,
              {"task", "drafter", "best γ", metric_label(Metric::speedup),
               metric_label(Metric::tokens_per_target_step), metric_label(Metric::alpha_overlap),
               metric_label(Metric::alpha_examined), metric_label(Metric::alpha_drafted), "proposes"},
              {},
              "All but two columns are of the fastest fixed γ. α (overlap): mean overlap of target and draft "
              "along text that the target generates, 0 where the drafter has nothing to propose; "
              "\"proposes\" is the share of contexts in which it has. Standard decoding has speedup 1."};
  const bool looks = std::any_of(result.cells.begin(), result.cells.end(),
                                 [](const CellResult& cell) { return cell.until.has_value(); });
  if (looks) table.columns.emplace_back("sequences");
  for (const CellResult& cell : result.cells) {
    const CompareResult* comparison = numbers_of(cell);
    if (comparison == nullptr) {
      table.rows.push_back(empty_row(cell, table.columns.size()));
      continue;
    }
    std::vector<Cell> row = head(cell);
    row.push_back(number_cell(comparison->best_gamma));
    for (const Metric metric : {Metric::speedup, Metric::tokens_per_target_step, Metric::alpha_overlap,
                                Metric::alpha_examined, Metric::alpha_drafted}) {
      row.push_back(interval_or_none(value_of(cell.simulated, metric)));
    }
    row.push_back(interval_or_none(comparison->proposes));
    if (looks) row.push_back(count_cell(comparison->sequences));
    table.rows.push_back(std::move(row));
  }
  return table;
}

/// Bounds that are not finite have been through a file as NaN, which compares as false.
bool decides(const std::optional<Interval>& interval) { return interval && interval->judges(); }
bool above_zero(const std::optional<Interval>& interval) { return decides(interval) && interval->low > 0; }
bool below_zero(const std::optional<Interval>& interval) { return decides(interval) && interval->high < 0; }

const char* mark_of(const std::optional<Interval>& gain) {
  return above_zero(gain) ? " ▲" : below_zero(gain) ? " ▼" : "";
}

const char* css_of(const PolicyResult& policy) {
  if (policy.upper_bound()) return "note";
  return above_zero(policy.gain) ? "good" : below_zero(policy.gain) ? "bad" : "";
}

/// Rows of all cells that ran: task, drafter, `first(cell, comparison)`, then `of(policy)` for every policy.
Table by_policy(const Result& result, Table table,
                const std::function<Cell(const CellResult&, const CompareResult&)>& first,
                const std::function<Cell(const PolicyResult&)>& of) {
  const std::vector<std::string> names = policy_names(result);
  table.columns.insert(table.columns.end(), names.begin(), names.end());
  for (const CellResult& cell : result.cells) {
    const CompareResult* comparison = numbers_of(cell);
    if (comparison == nullptr) continue;
    std::vector<Cell> row = head(cell);
    row.push_back(first(cell, *comparison));
    for (const std::string& name : names) {
      const PolicyResult* policy = find_named(comparison->policies, name);
      row.push_back(policy == nullptr ? text_cell("–") : of(*policy));
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

/// The column of the upper bound with drafting free, when there is an upper bound.
void add_drafting_free(Table& table, const Result& result) {
  std::vector<Cell> column;
  bool any = false;
  for (const CellResult& cell : result.cells) {
    const CompareResult* comparison = numbers_of(cell);
    if (comparison == nullptr) continue;
    column.push_back(text_cell("–"));
    for (const PolicyResult& policy : comparison->policies) {
      if (!policy.upper_bound()) continue;
      column.back() = number_cell(policy.speedup_drafting_free->estimate);
      any = true;
      break;
    }
  }
  if (!any) return;
  table.columns.emplace_back("upper bound, drafting free");
  for (std::size_t row = 0; row < column.size(); ++row) table.rows[row].push_back(std::move(column[row]));
}

Table policies_table(const Result& result, const std::string& id) {
  Table table = by_policy(
      result, {id, "Speedup by γ policy", {"task", "drafter", "best fixed γ"}, {}, ""},
      [](const CellResult& cell, const CompareResult& comparison) {
        const double speedup = value_of(cell.simulated, Metric::speedup)->estimate;
        return Cell{fmt::format("{} (γ = {})", number_text(speedup), comparison.best_gamma), speedup, ""};
      },
      [](const PolicyResult& policy) {
        const double speedup = policy.speedup->estimate;
        return Cell{number_text(speedup) + mark_of(policy.gain), speedup, css_of(policy)};
      });
  table.note =
      "▲ ▼: faster or slower than the best fixed γ, by an interval of the paired difference that leaves out "
      "0. The best fixed γ is chosen after the fact, on these very sequences, which is a little in its "
      "favour. The upper bound is no policy: it pays for drafting the tokens that will be accepted and no "
      "others; with drafting free, not even for those. A difference that was the same in half of the groups "
      "of sequences or more, such as none, has no mark: its error is not known.";
  add_drafting_free(table, result);
  return table;
}

Table gains_table(const Result& result, const std::string& id) {
  Table table = by_policy(
      result,
      {id,
       "Speedup of each γ policy less that of the best fixed γ",
       {"task", "drafter", "best fixed γ"},
       {},
       ""},
      [](const CellResult& cell, const CompareResult&) {
        return interval_or_none(value_of(cell.simulated, Metric::speedup));
      },
      [](const PolicyResult& policy) {
        Cell cell = interval_or_none(policy.gain);
        cell.css_class = css_of(policy);
        return cell;
      });
  table.note =
      "± ?: the difference was the same in half of the groups of sequences or more, such as none, so that "
      "its error is not known.";
  table.folded = true;
  return table;
}

Table gammas_table(const Result& result, const std::string& id) {
  Table table{id, "Speedup by fixed γ", {"task", "drafter"}, {}, ""};
  table.folded = true;
  for (const std::int32_t gamma : result.shown().section<CompareSection>().gammas) {
    table.columns.push_back(fmt::format("γ = {}", gamma));
  }
  for (const CellResult& cell : result.cells) {
    const CompareResult* comparison = numbers_of(cell);
    if (comparison == nullptr) continue;
    std::vector<Cell> row = head(cell);
    for (const GammaResult& gamma : comparison->gammas) row.push_back(interval_or_none(gamma.speedup));
    row.resize(table.columns.size());
    table.rows.push_back(std::move(row));
  }
  return table;
}

/// The acceptance rate by three ways to estimate it.
Table estimators_table(const Result& result, const std::string& id) {
  Table table{id,
              "α by three estimators",
              {"task", "drafter", "overlap", "recorded", "examined", "intervals meet"},
              {},
              "Along text that the target generates: mean overlap of its row and the draft's, and mean of "
              "min(1, q/p) of the token that came, which is all that a recording holds. Examined: accepted "
              "over examined tokens of decoding at the best γ, whose rounds come to other contexts."};
  table.folded = true;
  for (const CellResult& cell : result.cells) {
    const CompareResult* comparison = numbers_of(cell);
    if (comparison == nullptr) continue;
    const std::optional<Interval> all[] = {value_of(cell.simulated, Metric::alpha_overlap),
                                           comparison->alpha_recorded,
                                           value_of(cell.simulated, Metric::alpha_examined)};
    std::vector<Cell> row = head(cell);
    double highest_low = -std::numeric_limits<double>::infinity();
    double lowest_high = std::numeric_limits<double>::infinity();
    for (const auto& one : all) {
      row.push_back(interval_or_none(one));
      if (!one || !one->judges()) continue;
      highest_low = std::max(highest_low, one->low);
      lowest_high = std::min(lowest_high, one->high);
    }
    row.push_back(text_cell(highest_low <= lowest_high ? "yes" : "no"));
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace

std::string compare_headline(const Result& result, const Timings&) {
  constexpr std::size_t max_tasks = 3;
  const std::vector<std::string> tasks = distinct(result, "task");
  std::string text;
  for (const std::string& task : tasks) {
    const CellResult* best = nullptr;
    for (const CellResult& cell : result.cells) {
      if (set_text(cell, "task") != task || numbers_of(cell) == nullptr) continue;
      if (best == nullptr || value_of(cell.simulated, Metric::speedup)->estimate >
                                 value_of(best->simulated, Metric::speedup)->estimate)
        best = &cell;
    }
    if (best == nullptr) continue;
    text += fmt::format("{}{}: {} at γ = {}, speedup {}", text.empty() ? "Fastest on " : "; on ", task,
                        set_text(*best, "drafter"), numbers_of(*best)->best_gamma,
                        interval_text(*value_of(best->simulated, Metric::speedup)));
    if (&task - tasks.data() + 1 == max_tasks && tasks.size() > max_tasks) {
      text += fmt::format("; and {} tasks more", tasks.size() - max_tasks);
      break;
    }
  }
  if (text.empty())
    return result.partial ? "Interrupted before any drafter had run." : "No drafter could run.";
  return text + ".";
}

std::vector<Table> compare_tables(const Result& result, const Timings&, const std::string& id) {
  std::vector<Table> tables{drafters_table(result, id + "-table")};
  const bool any = std::any_of(result.cells.begin(), result.cells.end(),
                               [](const CellResult& cell) { return numbers_of(cell) != nullptr; });
  if (!any) {
    tables.front().note = interruption(result) + reasons(result);
    return tables;
  }
  if (!policy_names(result).empty()) {
    tables.push_back(policies_table(result, id + "-policies"));
    tables.push_back(gains_table(result, id + "-gains"));
  }
  tables.push_back(gammas_table(result, id + "-gammas"));
  tables.push_back(estimators_table(result, id + "-alpha"));
  tables.front().note += " " + interval_note(result) + reasons(result);
  tables.front().note = interruption(result) + edges(result) + too_wide(result) + tables.front().note;
  return tables;
}

std::string compare_csv(const Result& result, const Timings&) {
  std::vector<std::string> columns{"policy", "kind"};
  for (const char* name :
       {"speedup", "speedup_drafting_free", "gain", "tokens_per_target_step", "drafted_per_round",
        "alpha_examined", "alpha_drafted", "alpha_overlap", "alpha_recorded"}) {
    add_interval_columns(columns, name);
  }
  const ResultRows rows(result, set_paths(result.cells), columns);
  std::string lines = rows.header();
  const auto add = [&](std::size_t at, const PolicyResult& run) {
    std::vector<CsvValue> row{run.name, run.kind};
    for (const auto& interval :
         {run.speedup, run.speedup_drafting_free, run.gain, run.tokens_per_target_step, run.drafted_per_round,
          run.alpha_examined, run.alpha_drafted, value_of(result.cells[at].simulated, Metric::alpha_overlap),
          own<CompareResult>(result.cells[at]).alpha_recorded}) {
      add_interval(row, interval);
    }
    lines += rows.line(at, result.cells[at], std::move(row));
  };
  for (std::size_t i = 0; i < result.cells.size(); ++i) {
    const CompareResult* comparison = numbers_of(result.cells[i]);
    if (comparison == nullptr) continue;
    for (const GammaResult& run : comparison->gammas) {
      add(i, {run, fmt::format("gamma = {}", run.gamma), "fixed", {}, {}});
    }
    for (const PolicyResult& run : comparison->policies) add(i, run);
  }
  return lines;
}

}  // namespace speclab

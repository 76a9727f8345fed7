// Makes tables, figures and headline of the experiment "compare" from its results alone.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "experiments/base/format/named_entry.hpp"
#include "experiments/base/page/cells.hpp"
#include "experiments/results/metric_tables.hpp"
#include "experiments/results/presentation.hpp"
#include "experiments/results/result_rows.hpp"
#include "experiments/studies/compare/compare.hpp"
#include "experiments/studies/finished_cells.hpp"

namespace speclab {

namespace {

using ComparedCell = FinishedCell<CompareResult>;

/// Returns the cells with numbers.
std::vector<ComparedCell> compared_cells(const Result& result) {
  std::vector<ComparedCell> compared;
  for (const ComparedCell& one : finished_cells<CompareResult>(result)) {
    if (one.own.ran()) compared.push_back(one);
  }
  return compared;
}

/// Returns the cell's "task" or "drafter".
std::string set_text(const CellResult& cell, const char* what) {
  const Json* value = set_value(cell, what);
  return value != nullptr ? value->get<std::string>() : "";
}

void add_new(std::vector<std::string>& names, const std::string& name) {
  if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
}

/// Returns the tasks or drafters of all cells, each once.
std::vector<std::string> distinct(const Result& result, const char* what) {
  std::vector<std::string> all;
  for (const CellResult& cell : result.cells) add_new(all, set_text(cell, what));
  return all;
}

/// Returns the policies of all cells, each once.
std::vector<std::string> policy_names(const Result& result) {
  std::vector<std::string> names;
  for (const ComparedCell& one : compared_cells(result)) {
    for (const PolicyResult& policy : one.own.policies) add_new(names, policy.name);
  }
  return names;
}

/// Returns the speedup at the best fixed gamma.
const Interval& speedup_of(const CellResult& cell) { return *find(cell.simulated, Metric::speedup); }

Cell interval_or_none(const std::optional<Interval>& interval) {
  return interval ? interval_cell(*interval) : text_cell("–");
}

/// Returns task and drafter, and the further values that the sweep sets.
std::vector<Cell> head(const CellResult& cell) {
  const std::string task = set_text(cell, "task");
  const std::string drafter = set_text(cell, "drafter");
  const std::string both = task + ": " + drafter;
  const std::size_t extra = cell.label.size() - std::min(cell.label.size(), both.size());
  const std::string before = extra > 2 ? cell.label.substr(0, extra - 2) + ", " : "";
  return {text_cell(before + task), text_cell(drafter)};
}

/// Returns a row without numbers, which says that the cell was interrupted, or leaves the reason to a note.
std::vector<Cell> empty_row(const CellResult& cell, std::size_t columns) {
  std::vector<Cell> row = head(cell);
  if (cell.own == nullptr) row.push_back({"interrupted", std::nullopt, "bad"});
  row.resize(columns, text_cell("–"));
  return row;
}

/// Returns a note on cells whose best gamma is at an end of the grid, beyond which a better one may lie.
std::string edges(const Result& result) {
  std::vector<std::string> largest;
  for (const auto& [index, cell, own] : compared_cells(result)) {
    if (own.gammas.size() < 2) continue;
    const auto top = std::ranges::max_element(own.gammas, {}, &GammaResult::gamma);
    if (own.best_gamma == top->gamma) largest.push_back(cell.label);
  }
  if (largest.empty()) return "";
  return fmt::format(
      "WARNING: the best γ is the largest of compare.gammas, and a larger one may be better, for {}.\n",
      fmt::join(largest, "; "));
}

/// Returns the reasons why cells have no numbers.
std::string reasons(const Result& result) {
  std::string text;
  for (const auto& [index, cell, own] : finished_cells<CompareResult>(result)) {
    if (!own.ran()) text += fmt::format(" {}: {}.", cell.label, own.unsupported_reason);
  }
  return text;
}

/// Says how many cells of an interrupted comparison are finished; empty for a complete one.
std::string interruption(const Result& result) {
  if (!result.partial) return "";
  return fmt::format("Interrupted: partial. {} of {} cells are finished.\n",
                     finished_cells<CompareResult>(result).size(), result.cells.size());
}

Table drafters_table(const Result& result, const std::string& id) {
  Table table{
      id,
      result.title,
      {"task", "drafter", "best γ", metric_label(Metric::speedup),
       metric_label(Metric::tokens_per_target_step), metric_label(Metric::alpha_overlap),
       metric_label(Metric::alpha_examined), metric_label(Metric::alpha_drafted), "proposes"},
      {},
      "All columns but α (contexts) and \"proposes\" are at the fastest fixed γ. α (contexts): the rule's acceptance rate (for token verification, the overlap of target and draft), averaged over text that the target generates; 0 where the drafter proposes nothing, – if the rule has no such rate (block verification). \"proposes\": the share of contexts in which it proposes something. Standard decoding has speedup 1."};
  for (const CellResult& cell : result.cells) {
    if (!cell.own || !own<CompareResult>(cell).ran()) {
      table.rows.push_back(empty_row(cell, table.columns.size()));
      continue;
    }
    const auto& comparison = own<CompareResult>(cell);
    std::vector<Cell>& row = table.rows.emplace_back(head(cell));
    row.push_back(number_cell(comparison.best_gamma));
    for (const Metric metric : {Metric::speedup, Metric::tokens_per_target_step, Metric::alpha_overlap,
                                Metric::alpha_examined, Metric::alpha_drafted}) {
      row.push_back(interval_or_none(value_of(cell.simulated, metric)));
    }
    row.push_back(interval_or_none(comparison.proposes));
  }
  return table;
}

/// Returns a sentence about kinds of text that few sequences may miss.
std::string kinds_of_text(const Result& result) {
  const std::vector<ComparedCell> cells = compared_cells(result);
  if (cells.empty()) return "";
  const std::uint64_t fewest = std::ranges::min_element(cells, {}, [](const ComparedCell& one) {
                                 return one.own.sequences;
                               })->own.sequences;
  if (fewest < min_judged_sequences) {
    return fmt::format(
        " Texts that can be copied differ so much from others that {} sequences are needed here.",
        min_judged_sequences);
  }
  return fmt::format(
      " The intervals do not account for kinds of text that the {} sequences may miss: those below {:.2g}% of all texts.",
      fewest, 300.0 / static_cast<double>(fewest));
}

/// Infinite bounds are NaN once they have been in a file, and comparisons with NaN are false.
bool above_zero(const std::optional<Interval>& interval) {
  return interval && interval->judges() && interval->low > 0;
}
bool below_zero(const std::optional<Interval>& interval) {
  return interval && interval->judges() && interval->high < 0;
}

const char* mark_of(const std::optional<Interval>& gain) {
  return above_zero(gain) ? " ▲" : below_zero(gain) ? " ▼" : "";
}

const char* css_of(const PolicyResult& policy) {
  if (policy.upper_bound()) return "note";
  return above_zero(policy.gain) ? "good" : below_zero(policy.gain) ? "bad" : "";
}

/// Adds a column for the upper bound with drafting free, if there is one.
void add_drafting_free(Table& table, const Result& result) {
  std::vector<Cell> column;
  bool any = false;
  for (const auto& [index, cell, own] : compared_cells(result)) {
    const auto bound = std::ranges::find_if(own.policies, &PolicyResult::upper_bound);
    const bool found = bound != own.policies.end();
    column.push_back(found ? number_cell(bound->speedup_drafting_free->estimate) : text_cell("–"));
    any = any || found;
  }
  if (!any) return;
  table.columns.emplace_back("upper bound, drafting free");
  for (std::size_t row = 0; row < column.size(); ++row) table.rows[row].push_back(std::move(column[row]));
}

Table policies_table(const Result& result, const std::string& id) {
  const std::vector<std::string> names = policy_names(result);
  Table table{id, "Speedup by γ policy", {"task", "drafter", "best fixed γ"}};
  table.columns.insert(table.columns.end(), names.begin(), names.end());
  for (const ComparedCell& one : compared_cells(result)) {
    std::vector<Cell>& row = table.rows.emplace_back(head(one.cell));
    const double fixed = speedup_of(one.cell).estimate;
    row.push_back({fmt::format("{} (γ = {})", number_text(fixed), one.own.best_gamma), fixed});
    for (const std::string& name : names) {
      const PolicyResult* policy = find_named(one.own.policies, name);
      row.push_back(policy == nullptr ? text_cell("–")
                                      : Cell{number_text(policy->speedup->estimate) + mark_of(policy->gain),
                                             policy->speedup->estimate, css_of(*policy)});
    }
  }
  table.note =
      "▲ ▼: faster or slower than the best fixed γ: the interval of the paired difference excludes 0. These sequences choose the best fixed γ; the interval is for the difference to the truly best one. The upper bound is not a policy: it drafts, and pays for, exactly the tokens that will be accepted; with drafting free, it pays nothing. No mark: the difference was equal (such as 0) in at least half of the groups of sequences, so its error is unknown. results.csv has the differences (gain).";
  add_drafting_free(table, result);
  return table;
}

Table gammas_table(const Result& result, const std::string& id) {
  Table table{id, "Speedup by fixed γ", {"task", "drafter"}};
  table.folded = true;
  for (const std::int32_t gamma : result.shown().section<CompareSection>().gammas) {
    table.columns.push_back(fmt::format("γ = {}", gamma));
  }
  for (const auto& [index, cell, own] : compared_cells(result)) {
    std::vector<Cell>& row = table.rows.emplace_back(head(cell));
    for (const GammaResult& gamma : own.gammas) row.push_back(interval_or_none(gamma.speedup));
    row.resize(table.columns.size());
  }
  return table;
}

std::vector<Table> compare_tables(const Result& result, const Timings&, const std::string& id) {
  std::vector<Table> tables{drafters_table(result, id + "-table")};
  if (compared_cells(result).empty()) {
    tables.front().note = interruption(result) + reasons(result);
    return tables;
  }
  if (!policy_names(result).empty()) tables.push_back(policies_table(result, id + "-policies"));
  tables.push_back(gammas_table(result, id + "-gammas"));
  tables.front().note = interruption(result) + edges(result) + tables.front().note + " " +
                        interval_note(result) + kinds_of_text(result) + reasons(result);
  return tables;
}

using SpeedupOf = std::function<std::optional<Interval>(const ComparedCell&, const std::string& name)>;

/// Draws the drafters on one axis, with a series for each of `names`.
Figure by_drafter(const Result& result, const std::vector<std::string>& names, const SpeedupOf& speedup) {
  Figure figure;
  figure.categories = distinct(result, "drafter");
  figure.y_label = metric_label(Metric::speedup);
  for (const std::string& name : names) {
    Series series{.name = name, .style = SeriesStyle::points};
    for (const ComparedCell& one : compared_cells(result)) {
      const std::optional<Interval> value = speedup(one, name);
      const auto at = std::ranges::find(figure.categories, set_text(one.cell, "drafter"));
      if (value) series.add(static_cast<double>(at - figure.categories.begin()), *value);
    }
    figure.add(std::move(series));
  }
  return figure;
}

/// Draws one row per cell, for sweeps, which have several cells per drafter and task.
std::vector<Figure> by_cell(const Result& result) {
  constexpr std::size_t max_cells_drawn = 60;
  Figure figure;
  figure.title = "Speedup of every drafter at its best fixed γ";
  figure.y_label = metric_label(Metric::speedup);
  figure.caption = "One row per cell, with intervals. Standard decoding is 1.";
  Series series{.name = "best fixed γ", .style = SeriesStyle::points};
  for (const auto& [index, cell, own] : compared_cells(result)) {
    if (series.x.size() < max_cells_drawn) series.add(figure.add_category(cell.label), speedup_of(cell));
  }
  if (series.x.empty()) return {};
  if (result.cells.size() > max_cells_drawn)
    figure.caption +=
        fmt::format(" The first {} of {} cells; results.csv has all.", max_cells_drawn, result.cells.size());
  figure.series.push_back(std::move(series));
  return {figure};
}

/// Draws by task the speedup of every drafter at its best gamma, and for each task the speedups by policy.
std::vector<Figure> compare_figures(const Result& result, const Timings&) {
  // One axis cannot distinguish a sweep's several cells for one drafter and task.
  if (result.shown().sweep || result.shown().cases) return by_cell(result);
  const std::vector<std::string> tasks = distinct(result, "task");
  Figure all = by_drafter(result, tasks,
                          [](const ComparedCell& one, const std::string& task) -> std::optional<Interval> {
                            if (set_text(one.cell, "task") != task) return std::nullopt;
                            return speedup_of(one.cell);
                          });
  if (all.series.empty()) return {};
  all.title = "Speedup of every drafter at its best fixed γ, by task";
  all.caption = all.title + ", with intervals. Standard decoding is 1.";
  std::vector<Figure> figures{std::move(all)};

  std::vector<std::string> names = policy_names(result);
  if (names.empty()) return figures;
  names.insert(names.begin(), "best fixed γ");
  for (const std::string& task : tasks) {
    Figure figure = by_drafter(
        result, names, [&](const ComparedCell& one, const std::string& name) -> std::optional<Interval> {
          if (set_text(one.cell, "task") != task) return std::nullopt;
          if (name == names.front()) return speedup_of(one.cell);
          const PolicyResult* policy = find_named(one.own.policies, name);
          return policy != nullptr ? policy->speedup : std::nullopt;
        });
    if (figure.series.empty()) continue;
    figure.title = fmt::format("Speedup by γ policy: {}", task);
    figure.caption = figure.title + ", with intervals.";
    figures.push_back(std::move(figure));
  }
  return figures;
}

/// Names the fastest drafter of each task.
std::string compare_headline(const Result& result, const Timings&) {
  constexpr std::size_t max_tasks = 3;
  const std::vector<ComparedCell> cells = compared_cells(result);
  const std::vector<std::string> tasks = distinct(result, "task");
  std::string text;
  for (const std::string& task : tasks) {
    const ComparedCell* best = nullptr;
    for (const ComparedCell& one : cells) {
      if (set_text(one.cell, "task") != task) continue;
      if (best == nullptr || speedup_of(one.cell).estimate > speedup_of(best->cell).estimate) best = &one;
    }
    if (best == nullptr) continue;
    text += fmt::format("{}{}: {} at γ = {}, speedup {}", text.empty() ? "Fastest on " : "; on ", task,
                        set_text(best->cell, "drafter"), best->own.best_gamma,
                        interval_text(speedup_of(best->cell)));
    if (&task - tasks.data() + 1 == max_tasks && tasks.size() > max_tasks) {
      text += fmt::format("; and {} tasks more", tasks.size() - max_tasks);
      break;
    }
  }
  if (text.empty())
    return result.partial ? "Interrupted before any drafter had run." : "No drafter could run.";
  return text + ".";
}

}  // namespace

Presentation compare_presentation() {
  return {
      .tables = compare_tables, .figures = compare_figures, .headline = compare_headline, .csv = compare_csv};
}

}  // namespace speclab

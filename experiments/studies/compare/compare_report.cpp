// Makes tables, figures and headline of the experiment "compare" from its results alone.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
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

/// Returns the further values that a sweep sets, as the beginning of a text.
std::string swept(const CellResult& cell) {
  const std::size_t both = set_text(cell, "task").size() + 2 + set_text(cell, "drafter").size();
  return cell.label.substr(0, cell.label.size() - std::min(cell.label.size(), both));
}

/// Returns the drafter's name, marked if its rule is lossy.
std::string drafter_of(const CellResult& cell) {
  const std::string name = set_text(cell, "drafter");
  const bool lossy = cell.own && !own<CompareResult>(cell).lossy_rule.empty();
  return lossy ? fmt::format("{} (lossy: {})", name, own<CompareResult>(cell).lossy_rule) : name;
}

/// Returns task and drafter, and the further values that the sweep sets.
std::vector<Cell> head(const CellResult& cell) {
  return {text_cell(swept(cell) + set_text(cell, "task")), text_cell(drafter_of(cell))};
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

/// Returns a sentence about kinds of text that the sequences of cells with intervals may miss.
std::string kinds_of_text(const Result& result) {
  const std::vector<ComparedCell> cells = compared_cells(result);
  const auto sequences = [](const ComparedCell& one) { return one.own.sequences; };
  const std::uint64_t fewest = std::ranges::min_element(cells, {}, sequences)->own.sequences;
  if (fewest < min_judged_sequences) return "";
  return fmt::format(
      " A kind of text that makes up less than {1:.2g}% of all texts may be absent from the {0} sequences; the intervals do not cover that.",
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
      "▲ ▼: faster or slower than the best fixed γ: the interval of the paired difference excludes 0. The best fixed γ was chosen on these same sequences, which the interval allows for. The upper bound is not a policy: it drafts, and pays for, exactly the tokens that will be accepted. No mark: the interval contains 0, or is unknown because the difference was equal (such as 0) in at least half of the groups of sequences. results.csv has the differences (gain), and the upper bound with drafting free.";
  return table;
}

Table gammas_table(const Result& result, const std::string& id) {
  Table table{id, "Speedup by fixed γ", {"task", "drafter"}};
  table.folded = true;
  for (const std::int32_t gamma : result.shown().section<CompareSection>().gammas)
    table.columns.push_back(fmt::format("γ = {}", gamma));
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
                        interval_note(result, min_judged_sequences) + kinds_of_text(result) + reasons(result);
  return tables;
}

using SpeedupOf = std::function<std::optional<Interval>(const ComparedCell&, const std::string& name)>;

/// Draws the drafters on one axis, with a series for each of `names`; of a large sweep the first ones.
Figure by_drafter(const Result& result, const std::string& title, const std::vector<std::string>& names,
                  const SpeedupOf& speedup) {
  constexpr std::size_t max_drawn = 60;
  Figure figure;
  figure.title = title;
  figure.caption = title + ", with intervals. Standard decoding is 1.";
  figure.y_label = metric_label(Metric::speedup);
  for (const auto& [index, cell, own] : compared_cells(result))
    add_new(figure.categories, swept(cell) + drafter_of(cell));
  if (figure.categories.size() > max_drawn) {
    figure.caption += fmt::format(" The first {} of {}.", max_drawn, figure.categories.size());
    figure.categories.resize(max_drawn);
  }
  for (const std::string& name : names) {
    Series series{.name = name, .style = SeriesStyle::points};
    for (const ComparedCell& one : compared_cells(result)) {
      const std::optional<Interval> value = speedup(one, name);
      const auto at = std::ranges::find(figure.categories, swept(one.cell) + drafter_of(one.cell));
      if (value && at != figure.categories.end())
        series.add(static_cast<double>(at - figure.categories.begin()), *value);
    }
    figure.add(std::move(series));
  }
  return figure;
}

/// Draws by task the speedup of every drafter at its best gamma, and for each task the speedups by policy.
std::vector<Figure> compare_figures(const Result& result, const Timings&) {
  const std::vector<std::string> tasks = distinct(result, "task");
  std::vector<std::string> names = policy_names(result);
  std::vector<Figure> figures{
      by_drafter(result, "Speedup of every drafter at its best fixed γ, by task", tasks,
                 [](const ComparedCell& one, const std::string& task) -> std::optional<Interval> {
                   if (set_text(one.cell, "task") != task) return std::nullopt;
                   return speedup_of(one.cell);
                 })};
  if (!names.empty()) {
    names.insert(names.begin(), "best fixed γ");
    for (const std::string& task : tasks) {
      const auto speedup = [&](const ComparedCell& one, const std::string& name) -> std::optional<Interval> {
        if (set_text(one.cell, "task") != task) return std::nullopt;
        if (name == names.front()) return speedup_of(one.cell);
        const PolicyResult* policy = find_named(one.own.policies, name);
        return policy != nullptr ? policy->speedup : std::nullopt;
      };
      figures.push_back(by_drafter(result, fmt::format("Speedup by γ policy: {}", task), names, speedup));
    }
  }
  std::erase_if(figures, [](const Figure& figure) { return figure.series.empty(); });
  return figures;
}

/// A drafter with its best fixed γ or a policy, or plain decoding.
struct Contender {
  std::string name;
  Interval speedup;
  bool plain = false;
};

std::string with_speedup(const Contender& one) {
  return fmt::format("{} ({})", one.name, interval_text(one.speedup));
}

/// Returns a task's contenders, the fastest first; none if no drafter has run.
std::vector<Contender> contenders(const Result& result, const std::string& task) {
  std::vector<Contender> all;
  for (const ComparedCell& one : compared_cells(result)) {
    if (set_text(one.cell, "task") != task) continue;
    const std::string drafter = swept(one.cell) + drafter_of(one.cell);
    all.push_back({fmt::format("{} at γ = {}", drafter, one.own.best_gamma), speedup_of(one.cell)});
    for (const PolicyResult& policy : one.own.policies) {
      if (!policy.upper_bound()) all.push_back({drafter + " with " + policy.name, *policy.speedup});
    }
  }
  if (!all.empty()) all.push_back({"plain decoding", {1, 1, 1}, true});
  std::ranges::stable_sort(all, std::greater{}, [](const auto& one) { return one.speedup.estimate; });
  return all;
}

/// Joins the first texts and counts the others.
std::string listed(const std::vector<std::string>& texts, const char* separator, const char* others) {
  const std::size_t shown = std::min<std::size_t>(texts.size(), 3);
  return fmt::format("{}{}", fmt::join(texts.begin(), texts.begin() + shown, separator),
                     shown < texts.size() ? fmt::format(", and {} {}", texts.size() - shown, others) : "");
}

/// Names the fastest, and those whose intervals overlap with its own, such as its equals.
std::string fastest_text(const std::vector<Contender>& all) {
  const Contender& best = all.front();
  std::vector<std::string> close;
  for (const Contender& one : std::span(all).subspan(1)) {
    if (one.speedup.high < best.speedup.low) continue;  // false where a bound is unknown
    close.insert(one.plain ? close.begin() : close.end(), with_speedup(one));
  }
  const std::string text = fmt::format("{}, speedup {}", best.name, interval_text(best.speedup));
  if (!close.empty()) return text + ", not distinguishable from " + listed(close, ", ", "more");
  return best.plain ? text + ", before " + with_speedup(all[1]) : text;
}

std::string compare_headline(const Result& result, const Timings&) {
  std::vector<std::string> fastest;
  for (const std::string& task : distinct(result, "task")) {
    const std::vector<Contender> all = contenders(result, task);
    if (!all.empty()) fastest.push_back(task + ": " + fastest_text(all));
  }
  if (fastest.empty())
    return result.partial ? "Interrupted before any drafter had run." : "No drafter could run.";
  return fmt::format("Fastest on {}.{}", listed(fastest, "; on ", "more tasks"),
                     result.partial ? " Interrupted: partial." : "");
}

}  // namespace

Presentation compare_presentation() {
  return {
      .tables = compare_tables, .figures = compare_figures, .headline = compare_headline, .csv = compare_csv};
}

}  // namespace speclab

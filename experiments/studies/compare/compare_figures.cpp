#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include "experiments/format/named_entry.hpp"
#include "experiments/studies/compare/compare_cells.hpp"

namespace speclab {

namespace {

using SpeedupOf =
    std::function<std::optional<Interval>(const CellResult&, const CompareResult&, const std::string& name)>;

/// The drafters on one axis, a series for each of `names`.
Figure by_drafter(const Result& result, const std::vector<std::string>& drafters,
                  const std::vector<std::string>& names, const SpeedupOf& speedup_of) {
  Figure figure;
  figure.categories = drafters;
  figure.y_label = metric_label(Metric::speedup);
  for (const std::string& name : names) {
    Series series{.name = name, .style = SeriesStyle::points};
    for (const CellResult& cell : result.cells) {
      const CompareResult* comparison = numbers_of(cell);
      if (comparison == nullptr) continue;
      const std::optional<Interval> speedup = speedup_of(cell, *comparison, name);
      if (!speedup) continue;
      const auto at =
          std::find(drafters.begin(), drafters.end(), set_text(cell, "drafter")) - drafters.begin();
      series.add(static_cast<double>(at), *speedup);
    }
    figure.add(std::move(series));
  }
  return figure;
}

/// One row per cell, for sweeps, which have several for one drafter and task.
std::vector<Figure> by_cell(const Result& result) {
  constexpr std::size_t max_cells_drawn = 60;
  Figure figure;
  figure.title = "Speedup of every drafter at its best fixed γ";
  figure.y_label = metric_label(Metric::speedup);
  figure.caption = "One row per cell, with intervals. Standard decoding is 1.";
  Series series{.name = "best fixed γ", .style = SeriesStyle::points};
  for (const CellResult& cell : result.cells) {
    if (numbers_of(cell) == nullptr || figure.categories.size() == max_cells_drawn) continue;
    series.add(figure.add_category(cell.label), *value_of(cell.simulated, Metric::speedup));
  }
  if (series.x.empty()) return {};
  if (result.cells.size() > max_cells_drawn)
    figure.caption +=
        fmt::format(" The first {} of {} cells; results.csv has all.", max_cells_drawn, result.cells.size());
  figure.series.push_back(std::move(series));
  return {figure};
}

}  // namespace

std::vector<Figure> compare_figures(const Result& result, const Timings&) {
  std::vector<Figure> figures;
  // A sweep has several cells for one drafter and task, which one axis cannot tell apart.
  if (result.shown().sweep || result.shown().cases) return by_cell(result);
  const std::vector<std::string> drafters = distinct(result, "drafter");
  const std::vector<std::string> tasks = distinct(result, "task");
  Figure all = by_drafter(
      result, drafters, tasks,
      [](const CellResult& cell, const CompareResult&, const std::string& task) -> std::optional<Interval> {
        if (set_text(cell, "task") != task) return std::nullopt;
        return value_of(cell.simulated, Metric::speedup);
      });
  if (all.series.empty()) return figures;
  all.title = "Speedup of every drafter at its best fixed γ, by task";
  all.caption = all.title + ", with intervals. Standard decoding is 1.";
  figures.push_back(std::move(all));

  std::vector<std::string> names{"best fixed γ"};
  for (std::string& name : policy_names(result)) names.push_back(std::move(name));
  if (names.size() == 1) return figures;
  for (const std::string& task : tasks) {
    Figure figure = by_drafter(result, drafters, names,
                               [&](const CellResult& cell, const CompareResult& comparison,
                                   const std::string& name) -> std::optional<Interval> {
                                 if (set_text(cell, "task") != task) return std::nullopt;
                                 if (name == names.front()) return value_of(cell.simulated, Metric::speedup);
                                 const PolicyResult* policy = find_named(comparison.policies, name);
                                 return policy != nullptr ? policy->speedup : std::nullopt;
                               });
    if (figure.series.empty()) continue;
    figure.title = fmt::format("Speedup by γ policy: {}", task);
    figure.caption = figure.title + ", with intervals.";
    figures.push_back(std::move(figure));
  }
  return figures;
}

}  // namespace speclab

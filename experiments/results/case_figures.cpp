// Draws figures of results without a sweep.

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "experiments/results/metric_tables.hpp"
#include "experiments/results/presentation.hpp"

namespace speclab {

namespace {

/// A figure with more rows than this is not drawn.
constexpr std::size_t max_case_rows = 60;
constexpr std::size_t max_metrics = 2;

Figure position_figure(const CellResult& cell) {
  Figure figure{.title = "Acceptance by position",
                .x_label = "position in the drafted tokens",
                .y_label = "P[accepted]"};
  Series powers{.name = "αⁱ"};
  Series simulated{.name = "simulated", .style = SeriesStyle::points};
  Series conditional{.name = "simulated, if those before were accepted", .style = SeriesStyle::points};
  for (std::size_t i = 0; i < cell.positions.size(); ++i) {
    const auto position = static_cast<double>(i + 1);
    if (cell.exact_alpha) powers.add(position, std::pow(*cell.exact_alpha, position));
    if (const auto& value = cell.positions[i].unconditional) simulated.add(position, *value);
    if (const auto& value = cell.positions[i].conditional) conditional.add(position, *value);
  }
  const bool line = !powers.x.empty();
  for (Series* series : {&powers, &simulated, &conditional}) figure.add(std::move(*series));
  figure.y_range = AxisRange{0, 1.03};
  figure.caption = line ? "Points: simulation, with intervals. Line: independent acceptances at the exact α."
                        : "Points: simulation, with intervals.";
  return figure;
}

/// Draws a row for each cell, with the printed, computed and simulated value of one metric.
Figure rows_of_cells(const Result& result, Metric metric) {
  Figure figure{.title = metric_label(metric), .y_label = metric_label(metric)};
  Series printed{.name = "printed", .style = SeriesStyle::levels};
  Series formula{.name = "formula", .style = SeriesStyle::points};
  Series simulated{.name = "simulated", .style = SeriesStyle::points};
  for (const CellResult& cell : result.cells) {
    const double row = figure.add_category(cell.label.empty() ? result.title : cell.label);
    if (const std::string* value = printed_value(cell, metric)) printed.add(row, std::stod(*value));
    if (const double* value = find(cell.formula, metric)) formula.add(row, *value);
    if (const Interval* value = find(cell.simulated, metric)) simulated.add(row, *value);
  }
  for (Series* series : {&printed, &formula, &simulated}) figure.add(std::move(*series));
  figure.caption = "One row per case; simulated values with their intervals.";
  return figure;
}

}  // namespace

std::vector<Figure> case_figures(const Result& result) {
  const std::vector<CellResult>& cells = result.cells;
  if (cells.size() == 1 && cells.front().positions.size() > 1) return {position_figure(cells.front())};
  if (cells.empty() || cells.size() > max_case_rows) return {};
  std::vector<Metric> metrics = shown_metrics(result);
  // Metrics with printed values come first, then the one that the experiment draws for sweeps.
  const auto rank = [&](Metric metric) {
    const bool printed = std::ranges::any_of(
        cells, [&](const CellResult& cell) { return printed_value(cell, metric) != nullptr; });
    return printed ? 0 : metric == presentation_of(result.shown()).metrics.figure ? 1 : 2;
  };
  if (metrics.empty()) metrics.push_back(presentation_of(result.shown()).metrics.figure);
  std::ranges::stable_sort(metrics, [&](Metric a, Metric b) { return rank(a) < rank(b); });
  std::vector<Figure> figures;
  for (const Metric metric : metrics) {
    if (figures.size() == max_metrics) break;
    Figure figure = rows_of_cells(result, metric);
    if (!figure.series.empty()) figures.push_back(std::move(figure));
  }
  return figures;
}

}  // namespace speclab

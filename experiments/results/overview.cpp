#include "experiments/results/overview.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "experiments/base/page/cells.hpp"
#include "experiments/config/cells.hpp"
#include "experiments/results/metric_tables.hpp"

namespace speclab {

namespace {

constexpr std::size_t max_in_sample = 3000;  // a heat map draws each cell
constexpr std::size_t max_rows_of_axis = 20;

struct SweptAxis {
  std::string path;  ///< empty for the cases
  std::vector<std::string> values;
};

std::string value_text(const Json& value) {
  if (value.is_number()) return number_text(value.get<double>());
  return value.is_string() ? value.get<std::string>() : shown(value);
}

/// Returns the cases, then the sweep's axes; one axis without values if the cells are not their product, as
/// when an experiment divides cells.
std::vector<SweptAxis> axes_of_result(const ShownConfig& config, std::size_t cells) {
  std::vector<SweptAxis> axes{{"", {}}};
  for (const CaseConfig& one : config.cases.value_or(std::vector<CaseConfig>(1)))
    axes.front().values.push_back(one.label);
  std::size_t product = axes.front().values.size();
  if (config.sweep) {
    for (const auto& [path, axis] : *config.sweep) {
      SweptAxis& made = axes.emplace_back(SweptAxis{path, {}});
      for (const Json& value : axis_values(*axis, "/sweep/" + path)) made.values.push_back(value_text(value));
      product *= made.values.size();
    }
  }
  if (product != cells) axes = {{"", std::vector<std::string>(cells)}};
  return axes;
}

/// Returns the number of values to show per axis; the longest axes are thinned first.
std::vector<std::size_t> kept_values(const std::vector<SweptAxis>& axes) {
  std::vector<std::size_t> kept;
  double product = 1;
  for (const SweptAxis& axis : axes) {
    kept.push_back(axis.values.size());
    product *= static_cast<double>(axis.values.size());
  }
  while (product > max_in_sample) {
    std::size_t& longest = *std::max_element(kept.begin(), kept.end());
    product *= static_cast<double>(longest - 1) / static_cast<double>(longest);
    --longest;
  }
  return kept;
}

/// Returns true if place `at` of `count` is one of `kept` equally spaced places, which include both ends.
bool is_kept(std::size_t at, std::size_t count, std::size_t kept) {
  if (kept >= count) return true;
  if (kept == 1) return at == 0;
  const std::size_t number = (at * (kept - 1) + count - 2) / (count - 1);
  return number * (count - 1) / (kept - 1) == at;
}

/// Smallest, mean and largest of numbers that are added one at a time.
struct Spread {
  std::size_t count = 0;
  double least = std::numeric_limits<double>::infinity();
  double largest = -std::numeric_limits<double>::infinity();
  double sum = 0;
  std::string label;  ///< label of the cell with the largest number

  void add(double value) {
    ++count;
    least = std::min(least, value);
    largest = std::max(largest, value);
    sum += value;
  }
  double mean() const { return sum / static_cast<double>(count); }
};

Cell spread_cell(const Spread& spread) {
  if (spread.count == 0) return {};
  return {fmt::format("{} ({} to {})", number_text(spread.mean()), number_text(spread.least),
                      number_text(spread.largest)),
          spread.mean(), ""};
}

/// For each row of an axis' table (one value, or several neighbouring ones), each metric's spread over cells.
using AxisRows = std::vector<std::vector<Spread>>;

Table axis_table(const SweptAxis& axis, const AxisRows& rows, const std::vector<Metric>& metrics,
                 std::size_t number, const std::string& id) {
  const std::string name = axis.path.substr(axis.path.rfind('/') + 1);
  Table table{fmt::format("{}-axis-{}", id, number), fmt::format("All cells, by {}", name), {name}, {}, ""};
  for (const Metric metric : metrics) table.columns.push_back(metric_label(metric));
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const std::size_t values = axis.values.size();
    const std::size_t first = (row * values + rows.size() - 1) / rows.size();
    const std::size_t last = ((row + 1) * values + rows.size() - 1) / rows.size() - 1;
    std::vector<Cell> cells{text_cell(
        first == last ? axis.values[first] : fmt::format("{} to {}", axis.values[first], axis.values[last]))};
    for (const Spread& spread : rows[row]) cells.push_back(spread_cell(spread));
    table.rows.push_back(std::move(cells));
  }
  table.note = "Mean (least to largest).";
  return table;
}

}  // namespace

Overview overview_of(const Result& result, const CellSource& cells, const std::string& id) {
  const std::vector<SweptAxis> axes = axes_of_result(result.shown(), cells.size());
  const std::vector<std::size_t> kept = kept_values(axes);
  const std::vector<Metric> metrics = shown_metrics(result);

  Overview overview;
  Result& sample = overview.sample;
  static_cast<ResultHead&>(sample) = result;
  std::vector<Spread> whole(metrics.size());
  std::vector<AxisRows> by_axis;
  for (const SweptAxis& axis : axes)
    by_axis.emplace_back(std::min(axis.values.size(), max_rows_of_axis), std::vector<Spread>(metrics.size()));
  Agreement agreed;
  std::vector<std::size_t> at(axes.size());
  cells.each([&](const CellResult& cell) {
    bool in_sample = true;
    for (std::size_t axis = 0; axis < axes.size(); ++axis)
      in_sample = in_sample && is_kept(at[axis], axes[axis].values.size(), kept[axis]);
    if (in_sample) sample.cells.push_back(cell);
    const Agreement one = agreement(cell);
    agreed.held += one.held;
    agreed.compared += one.compared;
    for (std::size_t i = 0; i < metrics.size(); ++i) {
      const std::optional<double> value = estimate_of(cell, metrics[i]);
      if (!value) continue;
      if (*value > whole[i].largest) whole[i].label = cell.label;
      whole[i].add(*value);
      for (std::size_t axis = 0; axis < axes.size(); ++axis) {
        AxisRows& rows = by_axis[axis];
        rows[at[axis] * rows.size() / axes[axis].values.size()][i].add(*value);
      }
    }
    for (std::size_t axis = axes.size(); axis-- > 0;) {
      if (++at[axis] < axes[axis].values.size()) break;
      at[axis] = 0;
    }
  });

  Table all{id + "-all",
            fmt::format("All {} cells", grouped(cells.size())),
            {"metric", "least", "mean", "largest", "cell of the largest"},
            {},
            ""};
  for (std::size_t i = 0; i < metrics.size(); ++i) {
    if (whole[i].count == 0) continue;
    all.rows.push_back({text_cell(metric_label(metrics[i])), number_cell(whole[i].least),
                        number_cell(whole[i].mean()), number_cell(whole[i].largest),
                        text_cell(whole[i].label)});
  }
  all.note = "Simulated values where there are, else the formula's.";
  if (agreed.compared > 0)
    all.note += fmt::format(" The formula is within {} of {} intervals.", grouped(agreed.held),
                            grouped(agreed.compared));
  overview.tables.push_back(std::move(all));
  for (std::size_t axis = 1; axis < axes.size(); ++axis) {
    if (axes[axis].values.size() > 1)
      overview.tables.push_back(axis_table(axes[axis], by_axis[axis], metrics, axis, id));
  }
  overview.note = fmt::format(
      "{} cells are more than a page can show: the figures and the last table show {} of them, equally spaced along each axis. The other tables cover all cells; results.csv lists every one.",
      grouped(cells.size()), grouped(sample.cells.size()));
  return overview;
}

}  // namespace speclab

// Which columns are axes, values, colours and panels: as asked for, the rest from the table.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "experiments/plot/column_view.hpp"
#include "experiments/plot/plot_figures.hpp"

namespace speclab {

/// Series of one panel beyond which they cannot be told apart.
constexpr std::size_t most_series = 12;

/// A request with its columns found, and what was left open chosen.
struct PlotPlan {
  PlotKind kind = PlotKind::line;
  std::vector<std::size_t> rows;
  std::size_t x = 0;
  std::optional<std::size_t> up;  ///< the vertical axis of a heat map
  std::string value;
  std::vector<ValueColumn> values;
  std::vector<std::size_t> color;
  std::vector<std::size_t> facet;
};

/// Throws UsageError, which names the columns that there are.
PlotPlan plan_of(const ColumnView& table, const PlotRequest& request);

}  // namespace speclab

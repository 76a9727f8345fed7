// From rows to figures: which columns are axes, values, colours and panels.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "experiments/page/publication.hpp"
#include "experiments/plot/plot_table.hpp"

namespace speclab {

enum class PlotKind { line, heat, box, ecdf };

/// What was asked for; what was not is chosen from the table. A column is named in full, or by its last part
/// ("gamma" for "models_draft_gamma"); a value also without "simulated_" or "formula_", which then are drawn
/// both.
struct PlotRequest {
  std::optional<std::string> x = {};
  std::optional<std::string> y = {};    ///< the value; of a heat map the vertical axis
  std::vector<std::string> color = {};  ///< one series for each combination; of a heat map the value
  std::vector<std::string> facet = {};  ///< one panel for each combination
  std::vector<std::pair<std::string, std::string>> where = {};  ///< column, value
  std::optional<PlotKind> kind = {};
  bool log_x = false;
  bool log_y = false;
  bool log_color = false;  ///< of a heat map

  bool chooses() const { return x || y || !color.empty() || !facet.empty() || !where.empty() || kind; }
};

/// Panels of one picture. Columns that differ and that nobody named are panels too, so that no point lies on
/// another of a different row; of boxes and distributions they are the sample. Throws UsageError, which names
/// the columns that there are, for a column that is not there or holds no numbers, a value that no row has,
/// and too many panels.
std::vector<Panel> plot_panels(const PlotTable& table, const PlotRequest& request);

/// The figures that the result's experiment draws of itself, one picture each.
std::vector<Panel> own_figures(const PlotSource& source);

}  // namespace speclab

// Pictures for papers, drawn by matplotlib: python/speclab/_plots, which the Python package uses as well.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "experiments/plot/plot_source.hpp"

namespace speclab {

/// Options of `speclab plot` as they were written; Python checks them.
struct PlotOptions {
  std::map<std::string, std::string> words;  ///< "x", "color", "theme", ... without those that were not given
  std::vector<std::string> where;            ///< "c=0.05"
  std::filesystem::path python;              ///< that has matplotlib; run as it is

  /// Are columns, rows or a kind named? Else the figures that the result's experiment draws of itself are
  /// drawn, where there are some.
  bool chooses() const;
};

struct Pictures {
  std::vector<std::string> files;  ///< contents
  std::vector<std::string> notes;  ///< what whoever looks at them should know
};

/// Throws UsageError for what cannot be drawn, which says what there is, and where there is no Python or no
/// matplotlib, which says what to install; std::runtime_error when Python fails; Stopped.
Pictures draw_pictures(const std::vector<PlotSource>& sources, const PlotOptions& options);

/// What Python needs to name and colour things as pages do: JSON of "labels" of metrics, the "palette", and
/// "colours", the palette's places of names that recur.
std::string plot_words();

}  // namespace speclab

// Draws pictures for papers with matplotlib: python/speclab/_plots, which the Python package uses, too.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "experiments/plot/plot_source.hpp"

namespace speclab {

/// The options of `speclab plot` as they were written; Python checks them.
struct PlotOptions {
  std::map<std::string, std::string> words;  ///< "x", "color", "theme", ...; only those that were given
  std::vector<std::string> where;            ///< "c=0.05"
  std::filesystem::path python;              ///< the interpreter with matplotlib, run by this path

  /// Returns true if the options name columns, rows or a kind. Otherwise the figures that the result's
  /// experiment draws itself are drawn, if there are any.
  bool chooses() const;
};

struct Pictures {
  std::vector<std::string> files;  ///< contents
  std::vector<std::string> notes;  ///< remarks for the reader
};

/// Draws the pictures. Throws UsageError if something cannot be drawn, with the available columns and kinds,
/// and if Python or matplotlib is missing, with advice on what to install. Throws std::runtime_error if
/// Python fails, and Stopped.
Pictures draw_pictures(const std::vector<PlotSource>& sources, const PlotOptions& options);

/// Returns the names and colours that Python needs to match those of pages, as JSON: "labels" of metrics, the
/// "palette", and "colours", the indices in the palette of names that recur.
std::string plot_words();

}  // namespace speclab

// Draws figures for papers with matplotlib, by python/speclab/_plots, which the Python package uses, too.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "experiments/base/page/figure.hpp"

namespace speclab {

/// How `speclab plot` draws pictures.
struct PictureOptions {
  std::string format = {};               ///< "svg", "pdf" or "png"
  std::optional<std::string> size = {};  ///< "85x60" in mm; Python checks it
  std::string intervals = {};            ///< name of the intervals: "95% intervals"
  bool partial = false;                  ///< whether the figures are of an interrupted run
  std::filesystem::path python = {};     ///< interpreter that has matplotlib; it is run as given
};

struct Pictures {
  std::vector<std::string> files;  ///< contents of the files
  std::vector<std::string> notes;  ///< remarks for the reader
};

/// Draws a picture for each figure. Throws UsageError for figures that cannot be drawn, and if Python or
/// matplotlib is missing, with what to install; std::runtime_error if Python fails; Stopped.
Pictures draw_pictures(const std::vector<Figure>& figures, const PictureOptions& options);

/// Returns figures as JSON for python/speclab/_plots/figure.py: "figures", the page's "palette", and
/// "colours", the palette index of each name that recurs.
std::string figures_json(const std::vector<Figure>& figures);

}  // namespace speclab

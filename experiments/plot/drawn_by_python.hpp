// Draws pictures for papers with matplotlib: python/speclab/_plots, which the Python package uses, too.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "experiments/base/page/figure.hpp"

namespace speclab {

/// How `speclab plot` draws.
struct PictureOptions {
  std::string format = {};               ///< "svg", "pdf" or "png"
  std::optional<std::string> size = {};  ///< "85x60" in mm; Python checks it
  std::string intervals = {};            ///< what they are called: "95% intervals"
  std::filesystem::path python = {};     ///< that has matplotlib; run as it is
};

struct Pictures {
  std::vector<std::string> files;  ///< contents
  std::vector<std::string> notes;  ///< remarks for the reader
};

/// A picture for each figure. Throws UsageError for what cannot be drawn, and where there is no Python or no
/// matplotlib, which says what to install; std::runtime_error when Python fails; Stopped.
Pictures draw_pictures(const std::vector<Figure>& figures, const PictureOptions& options);

/// JSON of figures, as python/speclab/_plots/figure.py reads them, and of the colours of pages: "figures",
/// the "palette", and "colours", the palette's places of names that recur.
std::string figures_json(const std::vector<Figure>& figures);

}  // namespace speclab

// Figures for papers and slides, drawn by gnuplot: SVG, PDF with text that stays text, PNG.
//
// gnuplot, and not matplotlib: its cairo terminals embed fonts as text, it needs no Python beside the
// program, and it is one small package on every system. Figures of pages are drawn by figure.hpp instead,
// since they must follow a theme, answer the pointer and be read on a phone.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "experiments/page/figure.hpp"

namespace speclab {

enum class PictureFormat { svg, pdf, png };
/// paper: 85 mm wide, 8 points; screen: 160 mm, 12 points, for slides.
enum class PictureTheme { paper, screen };

struct PictureSize {
  double width = 0;  ///< mm
  double height = 0;
};

/// The five numbers of a sample at a place of the horizontal axis.
struct Box {
  double x = 0;
  double least = 0;
  double lower = 0;  ///< quartile
  double median = 0;
  double upper = 0;  ///< quartile
  double most = 0;
};

/// Boxes of one colour.
struct BoxSeries {
  std::string name;
  std::vector<Box> boxes;
};

/// One of several figures side by side, with a title of its own ("c = 0.05") where there are several.
struct Panel {
  Figure figure;
  std::vector<BoxSeries> boxes = {};
  std::string legend_note = {};  ///< below the legend where lines and points share a colour: what they are
};

struct Picture {
  PictureFormat format = PictureFormat::svg;
  PictureTheme theme = PictureTheme::paper;
  std::optional<PictureSize> size = {};  ///< none: as the theme and the number of panels ask
  std::string title = {};                ///< above all; empty for none: captions belong to the text
};

/// Panels have one range of each axis, one colour per name, and one legend. Intervals are bands around
/// points, or bars where the axis has names. Throws std::invalid_argument for a figure that contradicts
/// itself, std::runtime_error when gnuplot is missing (it says what to install) or fails.
std::string draw_picture(const std::vector<Panel>& panels, const Picture& picture);

}  // namespace speclab

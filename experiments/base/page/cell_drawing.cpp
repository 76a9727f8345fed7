// Draws heat maps: coloured cells and the scale of their colours.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "experiments/base/page/drawing_parts.hpp"

namespace speclab {

namespace {

constexpr std::size_t shades = 64;
constexpr double scale_gap = 14;
constexpr double scale_thickness = 14;

/// Returns a colour of viridis (van der Walt and Smith), given at nine places with linear interpolation
/// between them.
std::string viridis_at(double share) {
  static constexpr std::array<std::array<double, 3>, 9> stops{{{68, 1, 84},
                                                               {71, 44, 123},
                                                               {59, 81, 139},
                                                               {44, 113, 142},
                                                               {33, 144, 141},
                                                               {39, 173, 129},
                                                               {92, 200, 99},
                                                               {170, 220, 50},
                                                               {253, 231, 37}}};
  const double at = std::clamp(share, 0.0, 1.0) * (stops.size() - 1);
  const std::size_t low = std::min<std::size_t>(static_cast<std::size_t>(at), stops.size() - 2);
  std::array<int, 3> mix{};
  for (std::size_t i = 0; i < mix.size(); ++i)
    mix.at(i) = static_cast<int>(
        std::lround(stops.at(low).at(i) +
                    (at - static_cast<double>(low)) * (stops.at(low + 1).at(i) - stops.at(low).at(i))));
  return fmt::format("#{:02x}{:02x}{:02x}", mix[0], mix[1], mix[2]);
}

bool shown_cell_value(const HeatMap& heat, double z) { return std::isfinite(z) && (!heat.log_z || z > 0); }

Axis scale_axis(const HeatMap& heat) {
  Axis axis;
  axis.logarithmic = heat.log_z;
  axis.range = {INFINITY, -INFINITY};
  for (const auto& row : heat.z) {
    for (const double z : row) {
      if (!shown_cell_value(heat, z)) continue;
      axis.range.low = std::min(axis.range.low, z);
      axis.range.high = std::max(axis.range.high, z);
    }
  }
  if (!apart(axis.range)) axis.range = range_of({axis.range.low}, heat.log_z);
  return axis;
}

}  // namespace

std::vector<double> cell_borders(const std::vector<double>& centres, bool logarithmic) {
  const auto to = [&](double v) { return logarithmic ? std::log(v) : v; };
  const auto from = [&](double v) { return logarithmic ? std::exp(v) : v; };
  const std::size_t n = centres.size();
  if (n == 1) {
    const AxisRange around = range_of(centres, logarithmic);
    return {around.low, around.high};
  }
  std::vector<double> borders(n + 1);
  for (std::size_t i = 1; i < n; ++i) borders[i] = (to(centres[i - 1]) + to(centres[i])) / 2;
  borders[0] = 2 * to(centres[0]) - borders[1];
  borders[n] = 2 * to(centres[n - 1]) - borders[n - 1];
  for (double& border : borders) border = from(border);
  return borders;
}

double colour_scale_width(const HeatMap& heat) {
  double widest = 0;
  for (const double value : ticks_of(scale_axis(heat), 7, false))
    widest = std::max(widest, drawn_width(tick_text(value)));
  return scale_gap + scale_thickness + 8 + widest;
}

DrawnCells draw_cells(const Figure& figure, const Axis& x, const Axis& y) {
  const HeatMap& heat = *figure.heat;
  std::vector<double> across;
  std::vector<double> up;
  for (const double border : cell_borders(heat.x, figure.log_x)) across.push_back(x.place(border));
  for (const double border : cell_borders(heat.y, figure.log_y)) up.push_back(y.place(border));
  Axis scale = scale_axis(heat);
  scale.from = 0;
  scale.to = 1;
  // Each shade is one path: a cell takes 20 bytes, and the browser has 64 elements instead of thousands.
  std::array<std::string, shades> paths;
  std::string values;
  for (std::size_t row = 0; row < heat.y.size(); ++row) {
    values += (row == 0 ? "" : ",") + json_list(heat.z[row]);
    for (std::size_t column = 0; column < heat.x.size(); ++column) {
      const double z = heat.z[row][column];
      if (!shown_cell_value(heat, z)) continue;
      const auto shade = static_cast<std::size_t>(std::clamp(scale.place(z), 0.0, 1.0) * (shades - 1) + 0.5);
      paths.at(shade) += fmt::format("M{:.2f} {:.2f}H{:.2f}V{:.2f}H{:.2f}z", across[column], up[row],
                                     across[column + 1], up[row + 1], across[column]);
    }
  }
  DrawnCells drawn;
  const double left = x.to + scale_gap;
  const double height = (y.from - y.to) / shades;
  drawn.markup = fmt::format("<g class=\"cells\" clip-path=\"url(#{}-clip)\" shape-rendering=\"crispEdges\">",
                             figure.id);
  std::string bar = "<g shape-rendering=\"crispEdges\">";
  for (std::size_t shade = 0; shade < shades; ++shade) {
    const std::string colour = viridis_at(static_cast<double>(shade) / (shades - 1));
    if (!paths.at(shade).empty())
      drawn.markup += fmt::format("<path fill=\"{}\" d=\"{}\"/>", colour, paths.at(shade));
    bar += fmt::format("<path fill=\"{}\" d=\"M{:.1f} {:.2f}h{}v{:.2f}h-{}z\"/>", colour, left,
                       y.from - height * static_cast<double>(shade + 1), scale_thickness, height + 0.1,
                       scale_thickness);
  }
  drawn.markup += "</g>" + bar + "</g>";
  scale.from = y.from;
  scale.to = y.to;
  for (const double value : ticks_of(scale, 7, false))
    drawn.markup += text_at(left + scale_thickness + 5, scale.place(value) + 5, "start", tick_text(value));
  drawn.json = fmt::format("{{\"label\":{},\"x\":{},\"y\":{},\"z\":[{}],\"px\":{},\"py\":{}}}",
                           json_text(heat.z_label), json_list(heat.x), json_list(heat.y), values,
                           json_list(across), json_list(up));
  return drawn;
}

}  // namespace speclab

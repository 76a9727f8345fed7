#include "experiments/page/colours.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string>

namespace speclab {

namespace {

constexpr std::size_t blue = 0, vermilion = 1, green = 2, purple = 3, ochre = 4, sky = 5, black = 6, wine = 7,
                      indigo = 8, olive = 9, forest = 10, grey = 11;

}  // namespace

const std::map<std::string, std::size_t>& own_colours() {
  static const std::map<std::string, std::size_t> known{{"simulated", blue},
                                                        {"measured", blue},
                                                        {"logged", blue},
                                                        {"by the clock", blue},
                                                        {"speculative decoding", blue},
                                                        {"formula", vermilion},
                                                        {"Theorem 3.8", vermilion},
                                                        {"αⁱ", vermilion},
                                                        {"exact", green},
                                                        {"target run", blue},
                                                        {"draft run", vermilion},
                                                        {"dropped run", grey},
                                                        {"target", green},
                                                        {"lossless", green},
                                                        {"lossy", vermilion},
                                                        {"reproduces", green},
                                                        {"within input rounding", ochre},
                                                        {"does not reproduce", vermilion},
                                                        {"best fixed γ", blue},
                                                        {"uniform", grey},
                                                        {"99% band", grey},
                                                        {"c = 0.01", blue},
                                                        {"c = 0.02", vermilion},
                                                        {"c = 0.05", green},
                                                        {"c = 0.1", purple},
                                                        {"γ = 0", grey},
                                                        {"γ = 1", blue},
                                                        {"γ = 2", wine},
                                                        {"γ = 3", vermilion},
                                                        {"γ = 4", indigo},
                                                        {"γ = 5", green},
                                                        {"γ = 6", olive},
                                                        {"γ = 7", purple},
                                                        {"γ = 8", forest},
                                                        {"γ = 10", ochre},
                                                        {"γ = 12", sky},
                                                        {"γ = 16", black}};
  return known;
}

std::vector<std::size_t> colours_of(const std::vector<std::string>& names, bool over_cells) {
  std::vector<std::optional<std::size_t>> given;
  // Over a heat map the first colour would be lost among the cells.
  std::vector<int> uses(light_palette.size(), 0);
  if (over_cells) uses[blue] = 1;
  for (const std::string& name : names) {
    const auto own = own_colours().find(name);
    const bool free = own != own_colours().end() && uses[own->second] == 0;
    given.push_back(free ? std::optional(own->second) : std::nullopt);
    if (free) ++uses[own->second];
  }
  std::vector<std::size_t> colours;
  for (const auto& own : given) {
    const auto least = std::min_element(uses.begin(), uses.end());
    const std::size_t colour = own.value_or(static_cast<std::size_t>(least - uses.begin()));
    if (!own) ++uses[colour];
    colours.push_back(colour);
  }
  return colours;
}

std::vector<std::size_t> series_colours(const Figure& figure) {
  std::vector<std::string> names;
  for (const Series& series : figure.series) {
    if (!series.colour_of) names.push_back(series.name);
  }
  const std::vector<std::size_t> own = colours_of(names, figure.heat.has_value());
  std::vector<std::size_t> colours;
  std::size_t next = 0;
  for (const Series& series : figure.series)
    colours.push_back(series.colour_of ? colours[*series.colour_of] : own[next++]);
  return colours;
}

}  // namespace speclab

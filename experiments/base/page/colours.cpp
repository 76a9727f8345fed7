#include "experiments/base/page/colours.hpp"

#include <algorithm>
#include <optional>

namespace speclab {

const std::map<std::string, std::size_t>& own_colours() {
  static const std::map<std::string, std::size_t> known = [] {
    // The lists have the order of the palette.
    const std::array<std::vector<const char*>, light_palette.size()> names{{
        {"simulated", "measured", "logged", "by the clock", "speculative decoding", "target run",
         "best fixed γ", "c = 0.01", "γ = 1"},
        {"formula", "Theorem 3.8", "αⁱ", "draft run", "lossy", "does not reproduce", "c = 0.02", "γ = 3"},
        {"exact", "target", "lossless", "reproduces", "c = 0.05", "γ = 5"},
        {"c = 0.1", "γ = 7"},
        {"within input rounding", "γ = 10"},
        {"γ = 12"},
        {"γ = 16"},
        {"γ = 2"},
        {"γ = 4"},
        {"γ = 6"},
        {"γ = 8"},
        {"dropped run", "uniform", "99% band", "γ = 0"},
    }};
    std::map<std::string, std::size_t> all;
    for (std::size_t colour = 0; colour < names.size(); ++colour) {
      for (const char* name : names[colour]) all.emplace(name, colour);
    }
    return all;
  }();
  return known;
}

std::vector<std::size_t> colours_of(const std::vector<std::string>& names, bool over_cells) {
  std::vector<std::optional<std::size_t>> given;
  // The first colour would not be visible on the cells of a heat map.
  std::vector<int> uses(light_palette.size(), 0);
  if (over_cells) uses.front() = 1;
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

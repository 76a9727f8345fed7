// Gives each name the same colour on every page.
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "experiments/base/page/figure.hpp"

namespace speclab {

/// Okabe and Ito's colours, which colour-blind readers can tell apart, darkened to a contrast of 3:1 on
/// white, followed by darker ones in the manner of Paul Tol's "muted" set. Yellow is left out, because it is
/// hardly visible on white.
constexpr std::array<const char*, 12> light_palette = {"#0072b2", "#d55e00", "#008a64", "#b8578f",
                                                       "#a87200", "#2b8cc4", "#111111", "#882255",
                                                       "#332288", "#7d7d20", "#117733", "#767676"};
/// The same hues for a dark background.
constexpr std::array<const char*, 12> dark_palette = {"#4aa3df", "#f08a4b", "#2fbf91", "#e29ac2",
                                                      "#f2b632", "#9fd6f7", "#f2f2f2", "#d9779f",
                                                      "#9a8fe8", "#c9c96b", "#63c47a", "#a3a3a3"};

/// Returns the names that recur (simulated values, formulas, γ = 3, target runs) with their indices in the
/// palette.
const std::map<std::string, std::size_t>& own_colours();

/// Returns an index of the palette for each name. Names that recur have their own colour; the others take the
/// remaining ones in order. If `over_cells`, the first colour counts as taken by the cells of the heat map.
std::vector<std::size_t> colours_of(const std::vector<std::string>& names, bool over_cells);

/// Returns the colour of each series; series with `colour_of` get the colour of that series.
std::vector<std::size_t> series_colours(const Figure& figure);

}  // namespace speclab

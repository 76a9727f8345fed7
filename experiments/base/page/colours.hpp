// Which colour a name has: the same on every page.
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "experiments/base/page/figure.hpp"

namespace speclab {

/// Okabe and Ito's colours, which the colour-blind tell apart, as dark as 3:1 on white asks for, then darker
/// ones in the manner of Paul Tol's "muted" set. Yellow is left out: it is lost on white.
constexpr std::array<const char*, 12> light_palette = {"#0072b2", "#d55e00", "#008a64", "#b8578f",
                                                       "#a87200", "#2b8cc4", "#111111", "#882255",
                                                       "#332288", "#7d7d20", "#117733", "#767676"};
/// The same hues on a dark ground.
constexpr std::array<const char*, 12> dark_palette = {"#4aa3df", "#f08a4b", "#2fbf91", "#e29ac2",
                                                      "#f2b632", "#9fd6f7", "#f2f2f2", "#d9779f",
                                                      "#9a8fe8", "#c9c96b", "#63c47a", "#a3a3a3"};

/// Names that recur (what was simulated, formulas, γ = 3, runs of the target), with indices of the palette.
const std::map<std::string, std::size_t>& own_colours();

/// Of each name an index of the palette. Names that recur have a colour of their own; the others take what is
/// left, in order. The first of a heat map's cells is taken.
std::vector<std::size_t> colours_of(const std::vector<std::string>& names, bool over_cells);

/// Of each series; those that share a colour have the same.
std::vector<std::size_t> series_colours(const Figure& figure);

}  // namespace speclab

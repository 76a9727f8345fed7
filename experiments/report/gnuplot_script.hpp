// A figure in gnuplot's language.
#pragma once

#include <string>

#include "experiments/report/figure.hpp"

namespace speclab {

/// The script, data included, that draws a valid figure as SVG on standard output.
std::string gnuplot_script(const Figure& figure);

/// `text` as a gnuplot string constant in which nothing is special. Control characters become blanks.
std::string gnuplot_quoted(const std::string& text);

}  // namespace speclab

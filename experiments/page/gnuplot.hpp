// gnuplot, the program.
#pragma once

#include <string>

namespace speclab {

/// What gnuplot writes to standard output, given a script and its default settings. std::runtime_error when
/// it is missing (it says what to install) or refuses the script (it says why).
std::string run_gnuplot(const std::string& script);

/// `text` as a gnuplot string constant in which nothing is special. Control characters become blanks.
std::string gnuplot_quoted(const std::string& text);

}  // namespace speclab

// The program that draws, run as a child.
#pragma once

#include <string>

namespace speclab {

/// Runs gnuplot on a script given on its standard input, with its default settings, and returns what it wrote
/// to standard output. No shell is involved. std::runtime_error when gnuplot is missing (it says what to
/// install) or refuses the script (it says why).
std::string run_gnuplot(const std::string& script);

}  // namespace speclab

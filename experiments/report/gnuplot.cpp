#include "experiments/report/gnuplot.hpp"

#include <fmt/format.h>

#include <optional>
#include <stdexcept>

#include "experiments/support/child_process.hpp"

namespace speclab {

std::string run_gnuplot(const std::string& script) {
  // gnuplot reads its standard input a byte at a time, and a script that it is given by name through a
  // buffer: a heat map of 10,000 cells draws three times as fast under the name /dev/stdin.
  std::optional<Finished> gnuplot;
  try {
    gnuplot = run_program({"gnuplot", "--default-settings", "/dev/stdin"}, script);
  } catch (const std::runtime_error& error) {
    throw std::runtime_error(fmt::format("cannot draw: {}", error.what()));
  }
  if (!gnuplot) {
    throw std::runtime_error("cannot draw: gnuplot is not installed (on Debian: apt install gnuplot-nox)");
  }
  if (gnuplot->status != 0) {
    throw std::runtime_error(fmt::format("cannot draw: gnuplot failed:\n{}", gnuplot->err));
  }
  return gnuplot->out;
}

}  // namespace speclab

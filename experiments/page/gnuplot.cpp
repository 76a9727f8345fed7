#include "experiments/page/gnuplot.hpp"

#include <fmt/format.h>

#include <optional>
#include <stdexcept>
#include <string_view>

#include "experiments/support/child_process.hpp"

namespace speclab {

std::string run_gnuplot(const std::string& script) {
  // gnuplot reads its standard input a byte at a time, and a script that it is given by name through a
  // buffer: a heat map of 10,000 cells draws three times as fast under the name /dev/stdin.
  std::optional<Finished> gnuplot;
  try {
    gnuplot = run_child_process({"gnuplot", "--default-settings", "/dev/stdin"}, script);
  } catch (const std::runtime_error& error) {
    throw std::runtime_error(fmt::format("cannot draw: {}", error.what()));
  }
  if (!gnuplot)
    throw std::runtime_error("cannot draw: gnuplot is not installed (on Debian: apt install gnuplot-nox)");
  if (gnuplot->status != 0)
    throw std::runtime_error(fmt::format("cannot draw: gnuplot failed:\n{}", gnuplot->err));
  return gnuplot->out;
}

std::string gnuplot_quoted(const std::string& text) {
  // Octal, for whatever could be special: gnuplot's rules for quotes, macros and backquotes inside strings
  // have exceptions. The leading zero makes it read four digits, even when a digit follows.
  constexpr std::string_view plain_punctuation = " ,.:;-+=()";
  std::string out = "\"";
  for (const char letter : text) {
    const auto byte = static_cast<unsigned char>(letter);
    const bool letter_or_digit = (letter >= '0' && letter <= '9') || (letter >= 'A' && letter <= 'Z') ||
                                 (letter >= 'a' && letter <= 'z');
    if (byte < ' ') {
      out += ' ';
    } else if (byte >= 0x80U || letter_or_digit || plain_punctuation.find(letter) != std::string_view::npos) {
      out += letter;
    } else {
      out += fmt::format("\\0{:03o}", byte);
    }
  }
  return out + '"';
}

}  // namespace speclab

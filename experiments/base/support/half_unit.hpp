// Computes the rounding error of a printed number.
#pragma once

#include <cmath>
#include <string>

namespace speclab {

/// Returns half a unit of the last digit of a decimal: 0.005 for "2.44", 5e-7 for "1.5e-5".
inline double half_unit_of(const std::string& printed) {
  const auto end = printed.find_first_of("eE");
  const std::string digits = printed.substr(0, end);
  const auto point = digits.find('.');
  const int places = point == std::string::npos ? 0 : static_cast<int>(digits.size() - point - 1);
  const int exponent = end == std::string::npos ? 0 : std::stoi(printed.substr(end + 1));
  return 0.5 * std::pow(10.0, exponent - places);
}

}  // namespace speclab

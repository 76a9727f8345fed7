// Converts decimal numbers to floating point or to exact arithmetic.
#pragma once

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>

#include "core/host_device.hpp"

namespace speclab {

/// Returns the number that is the whole text, without a plus sign or blanks; empty if there is none, or if
/// the type cannot hold it.
template <class Number>
std::optional<Number> parsed(std::string_view text) {
  Number number{};
  // The view is not null-terminated, and other text may follow it.
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

/// Returns the exponent of ten that follows the mark in "2e-3", "2e+3" or "2e3". Returns none if `text` is
/// not one integer.
inline std::optional<int> decimal_exponent(std::string_view text) {
  if (text.starts_with("+-")) return std::nullopt;
  if (text.starts_with('+')) text.remove_prefix(1);
  return parsed<int>(text);
}

/// Returns the shortest decimal that rounds to `value`, as a fraction such as "3/10". `value` is finite.
inline std::string decimal_fraction(double value) {
  std::array<char, 32> buffer;
  const auto end =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::scientific);
  const std::string_view text(buffer.data(), static_cast<std::size_t>(end.ptr - buffer.data()));
  const std::size_t mark = text.find('e');
  std::string digits;
  int exponent = decimal_exponent(text.substr(mark + 1)).value();
  bool after_point = false;
  for (const char c : text.substr(0, mark)) {
    if (c == '.') {
      after_point = true;
      continue;
    }
    digits += c;
    if (after_point) --exponent;
  }
  const std::string zeros(static_cast<std::size_t>(std::abs(exponent)), '0');
  return exponent < 0 ? digits + "/1" + zeros : digits + zeros;
}

/// Returns base^exponent by multiplication, for any arithmetic.
template <class Real>
Real power_of(const Real& base, std::size_t exponent) {
  Real power(1);
  for (std::size_t i = 0; i < exponent; ++i) power *= base;
  return power;
}

/// Converts a parameter that people write as a decimal. Floating point takes the double itself; exact
/// arithmetic takes 0.1 as one tenth, not as the double nearest to it.
template <class Real>
SPECLAB_HD Real from_decimal(double value) {
  if constexpr (std::is_floating_point_v<Real>) {
    return static_cast<Real>(value);
  } else {
    return Real(decimal_fraction(value));
  }
}

}  // namespace speclab

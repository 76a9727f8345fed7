// Writes .npy files (https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html), version 1.0.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

namespace speclab {

/// Returns the bytes of an .npy file that holds these numbers in C order.
template <class T>
requires std::same_as<T, double> || std::same_as<T, std::int32_t> || std::same_as<T, std::int64_t> std::string
npy_text(const std::vector<T>& numbers, std::initializer_list<std::size_t> shape) {
  static_assert(std::endian::native == std::endian::little, "numbers are written as they lie in memory");
  constexpr const char* type = std::same_as<T, double> ? "<f8" : sizeof(T) == 4 ? "<i4" : "<i8";
  std::string text = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}{}), }}", type,
                                 fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
  // Magic, version and length take 10 bytes; the numbers begin at a multiple of 64.
  constexpr std::size_t before = 10;
  constexpr std::size_t aligned = 64;
  text.resize((before + text.size() + aligned) / aligned * aligned - before - 1, ' ');
  text += '\n';
  std::string out("\x93NUMPY\x01\x00", 8);
  out += static_cast<char>(text.size() & 0xffU);
  out += static_cast<char>(text.size() >> 8U);
  return (out + text).append(reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(T));
}

}  // namespace speclab

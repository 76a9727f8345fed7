#include "experiments/bench/npy.hpp"

#include <fmt/format.h>

#include <bit>

namespace speclab {

namespace {

static_assert(std::endian::native == std::endian::little, "numbers are written as they lie in memory");

template <class T>
std::string array_file(std::span<const T> values, const char* type) {
  constexpr std::size_t before_header = 10;  // magic, version, length
  constexpr std::size_t alignment = 64;
  std::string header =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({},), }}", type, values.size());
  const std::size_t unpadded = before_header + header.size() + 1;
  header.append((alignment - unpadded % alignment) % alignment, ' ');
  header += '\n';
  std::string file("\x93NUMPY\x01\x00", 8);
  file += static_cast<char>(header.size() & 0xffU);
  file += static_cast<char>(header.size() >> 8U);
  file += header;
  file.append(reinterpret_cast<const char*>(values.data()), values.size_bytes());
  return file;
}

}  // namespace

std::string npy(std::span<const double> values) { return array_file(values, "<f8"); }
std::string npy(std::span<const std::int32_t> values) { return array_file(values, "<i4"); }
std::string npy(std::span<const std::int64_t> values) { return array_file(values, "<i8"); }

}  // namespace speclab

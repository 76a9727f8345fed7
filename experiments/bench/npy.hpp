// Arrays for NumPy.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace speclab {

/// A one-dimensional array as the contents of an .npy file, format version 1.0 (numpy.lib.format): magic,
/// version, length of the header, a header padded to a multiple of 64 bytes, then the numbers, little-endian.
std::string npy(std::span<const double> values);
std::string npy(std::span<const std::int32_t> values);
std::string npy(std::span<const std::int64_t> values);

}  // namespace speclab

// Converts counts to doubles.
#pragma once

#include <cstdint>

namespace speclab {

inline double real(std::uint64_t count) { return static_cast<double>(count); }

}  // namespace speclab

// Sixteen bytes that a thread loads at once.
#pragma once

#include <cstdint>

namespace speclab::simt {

struct alignas(16) Vector16 {
  std::uint32_t word[4];
};

}  // namespace speclab::simt

// A choice between two numbers without a branch.
#pragma once

#include <cstdint>

#include "core/host_device.hpp"

namespace speclab {

/// Returns `yes` if `condition` is 1, `no` if it is 0. Use it for choices that depend on random draws, where
/// a branch would be mispredicted.
SPECLAB_HD inline std::uint32_t select(std::uint32_t condition, std::uint32_t yes, std::uint32_t no) {
  return no ^ ((yes ^ no) & (0U - condition));
}

}  // namespace speclab

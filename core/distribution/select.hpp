// A choice without a branch.
#pragma once

#include <cstdint>

#include "core/host_device.hpp"

namespace speclab {

/// `yes` where the condition, 0 or 1, holds: for choices that depend on random draws, where a branch would be
/// mispredicted.
SPECLAB_HD inline std::uint32_t select(std::uint32_t condition, std::uint32_t yes, std::uint32_t no) {
  return no ^ ((yes ^ no) & (0U - condition));
}

}  // namespace speclab

// What a simulation launches and how much device memory it takes, from sizes alone: for launching, and
// for a dry run without a device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "kernels/simt/launch.hpp"
#include "kernels/simulate/simulate.hpp"

namespace speclab {

struct SimulateLayout {
  simt::Launch launch;              ///< the largest
  std::uint64_t launches = 0;       ///< one after the other
  std::uint64_t device_bytes = 0;   ///< allocated
  std::uint64_t random_blocks = 0;  ///< upper bound: pieces cut blocks, and every draft is accepted
};

struct IidLayout : SimulateLayout {
  std::uint64_t pieces = 0;  ///< of a launch (core/round/batches.hpp)
  std::uint32_t shares = 0;  ///< thread blocks that share a piece
};

struct TableLayout : SimulateLayout {
  std::uint32_t sequences = 0;  ///< of a launch, side by side
  std::uint32_t stretch = 0;    ///< rounds of each in a launch
};

IidLayout iid_layout(const RunShape& shape);

/// Of the tables only the sizes are looked at.
TableLayout table_layout(const RunShape& shape, const PreparedPairView& tables, std::size_t prompts);

/// Why a device with so much memory cannot run it, as a sentence; empty when it can.
std::string layout_unsupported_reason(const SimulateLayout& layout, std::uint64_t memory_bytes);

}  // namespace speclab

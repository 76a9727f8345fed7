// Computes the launches and the device memory of a simulation from sizes alone: for launching, and for a dry
// run without a device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "kernels/simt/launch.hpp"
#include "kernels/simulate/simulate.hpp"

namespace speclab {

struct SimulateLayout {
  simt::Launch launch;             ///< the largest launch
  std::uint64_t launches = 0;      ///< number of launches, one after the other
  std::uint64_t device_bytes = 0;  ///< allocated bytes
  /// Upper bound: counts a Philox block that two pieces share twice, and every drafted token as accepted.
  std::uint64_t random_blocks = 0;
};

struct IidLayout : SimulateLayout {
  std::uint64_t pieces = 0;  ///< pieces per launch (core/round/batches.hpp)
  std::uint32_t shares = 0;  ///< thread blocks that share a piece
};

struct TableLayout : SimulateLayout {
  std::uint32_t sequences = 0;  ///< sequences per launch, side by side
  std::uint32_t stretch = 0;    ///< rounds of each sequence per launch
};

IidLayout iid_layout(const RunShape& shape);

/// Reads only the sizes of the tables.
TableLayout table_layout(const RunShape& shape, const PreparedPairView& tables, std::size_t prompts);

/// Returns the reason why a device with `memory_bytes` of memory cannot run it, as a sentence; empty if it
/// can.
std::string layout_unsupported_reason(const SimulateLayout& layout, std::uint64_t memory_bytes);

}  // namespace speclab

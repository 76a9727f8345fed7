// Describes the GPU that kernels run on, if there is one.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace speclab {

struct GpuDevice {
  std::string name;
  int capability = 0;  ///< compute capability, such as 90 for 9.0
  int multiprocessors = 0;
  std::size_t memory_bytes = 0;
  std::size_t l2_bytes = 0;
  int clock_mhz = 0;         ///< maximum of the multiprocessors
  int memory_clock_mhz = 0;  ///< maximum
  std::string driver;        ///< newest CUDA that the driver supports, such as "13.0"
  std::string runtime;       ///< CUDA that this program was built with
};

/// Returns the current CUDA device; nothing if there is none, if no driver runs, or in a build without CUDA.
std::optional<GpuDevice> current_device();

/// Returns the reason why there is no device, for a message; empty if there is one.
std::string why_no_device();

}  // namespace speclab

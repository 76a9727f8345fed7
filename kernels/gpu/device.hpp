// The GPU that kernels run on, if there is one.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace speclab {

struct GpuDevice {
  std::string name;
  int capability = 0;  ///< compute capability, as 90 for 9.0
  int multiprocessors = 0;
  std::size_t memory_bytes = 0;
  std::size_t l2_bytes = 0;
  int clock_mhz = 0;         ///< highest of the multiprocessors
  int memory_clock_mhz = 0;  ///< highest
  std::string driver;        ///< newest CUDA that the driver supports, as "13.0"
  std::string runtime;       ///< CUDA that this program was built with
};

/// The current CUDA device; nothing where there is none, where no driver runs, or in a build without CUDA.
std::optional<GpuDevice> current_device();

/// Why there is none, for a message; empty when there is one.
std::string why_no_device();

}  // namespace speclab

// Runs kernels on the CPU; each thread is a fiber (Boost.Context). Clusters (or single blocks) run one after
// the other. Host only.
#pragma once

#include <cstdint>
#include <functional>
#include <stdexcept>

#include "kernels/simt/launch.hpp"

namespace speclab::simt {

/// The order in which warps of a block, lanes of a warp, and blocks of the grid get their turns. Each warp
/// runs until it must wait for another. A kernel that synchronises correctly gives the same bits in every
/// order.
enum class Order : std::uint8_t { forward, backward, shuffled };

/// Thrown for a kernel that would hang on a GPU or run into undefined behaviour.
class EmulationError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Runs `body` in every thread of the launch, and adds what threads load to `loads`. Throws EmulationError if
/// threads wait at different barriers, or if some end while others wait for them; lets exceptions of `body`
/// through.
void emulate(const Launch& launch, Order order, Loads& loads, const std::function<void()>& body);

/// Launches kernels in the emulator, one after the other. If SPECLAB_WITHOUT_EMULATOR is defined
/// (CMakeLists.txt defines it for the Python package's library), it refuses instead, and no kernel is
/// compiled for the CPU.
class EmulatedExecutor {
 public:
  /// `max_cluster`: number of blocks in the largest clusters of the emulated device.
  explicit EmulatedExecutor(Order order = Order::forward, int max_cluster = portable_cluster_blocks)
      : order_(order), max_cluster_(max_cluster) {}

  template <class Kernel>
  void run(const Launch& launch, const typename Kernel::Args& args) {
#if defined(SPECLAB_WITHOUT_EMULATOR)
    static_cast<void>(launch);
    static_cast<void>(args);
    throw std::invalid_argument(
        "this library has no emulator: on the CPU it decides by the definition (emulate = 0; in Python neither "
        "implementation nor emulate); the library of a whole build has one, and SPECLAB_KERNELS_LIBRARY names it");
#else
    if (launch.blocks > 0) emulate(launch, order_, loads_, [&args] { Kernel{}(args); });
#endif
  }

  /// Returns whether the emulated device can launch such clusters.
  template <class Kernel>
  bool takes(const Launch& launch) const {
    return launch.cluster <= max_cluster_;
  }

  /// Return what all launches so far have loaded.
  std::uint64_t loaded_bytes() const { return loads_.bytes; }
  std::uint64_t load_count() const { return loads_.count; }

 private:
  Order order_;
  int max_cluster_;
  Loads loads_;
};

}  // namespace speclab::simt

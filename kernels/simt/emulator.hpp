// Runs kernels on the CPU, thread by thread, each a fiber (Boost.Context). Blocks come one after the other,
// clusters whole. Host only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <stdexcept>

#include "kernels/simt/launch.hpp"

namespace speclab::simt {

/// The order in which warps of a block get their turn, lanes within a warp, and blocks within the grid. Each
/// warp goes on until it has to wait for another. A kernel that synchronises as it should gives the same bits
/// in any of them.
enum class Order : std::uint8_t { forward, backward, shuffled };

/// A kernel that the GPU would let hang or run into undefined behaviour.
class EmulationError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Runs `body` in every thread of the launch, and adds the bytes of global memory that threads ask for, by
/// `load` and `load_fresh`. Throws EmulationError when threads wait at different barriers, or some end while
/// others wait, and whatever `body` throws.
void emulate(const Launch& launch, Order order, std::uint64_t& loaded_bytes,
             const std::function<void()>& body);

/// Launches kernels, one after the other. Where SPECLAB_WITHOUT_EMULATOR is defined (CMakeLists.txt, for the
/// Python package's library) it refuses instead, and no kernel is compiled for the CPU.
class EmulatedExecutor {
 public:
  /// `max_cluster`: the largest clusters of the device that it stands for.
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
    if (launch.blocks > 0) emulate(launch, order_, loaded_bytes_, [&args] { Kernel{}(args); });
#endif
  }

  /// Whether the device takes such clusters.
  template <class Kernel>
  bool takes(const Launch& launch) const {
    return launch.cluster <= max_cluster_;
  }

  /// Of the launches so far.
  std::uint64_t loaded_bytes() const { return loaded_bytes_; }

 private:
  Order order_;
  int max_cluster_;
  std::uint64_t loaded_bytes_ = 0;
};

}  // namespace speclab::simt

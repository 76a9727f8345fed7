// The shape of a kernel launch: one description configures the GPU, the emulator and the dry run.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/host_device.hpp"

#if defined(__CUDACC__)
#define SPECLAB_DEVICE __device__
#else
#define SPECLAB_DEVICE
#endif
// Functions for both processors have these too; the host's compiler does not know them.
#if defined(__CUDA_ARCH__)
#define SPECLAB_UNROLL _Pragma("unroll")
/// Prevents the unrolling of a loop that a block runs once or twice: fetching unrolled instructions takes
/// longer than running them.
#define SPECLAB_ROLLED _Pragma("unroll 1")
#else
#define SPECLAB_UNROLL
#define SPECLAB_ROLLED
#endif

namespace speclab::simt {

inline constexpr int warp_size = 32;

/// Limits of every device since compute capability 8.0. A launch beyond them is refused before it starts.
inline constexpr std::int64_t max_blocks = 0x7fffffff;
inline constexpr std::size_t static_shared_limit = std::size_t{48} * 1024;
inline constexpr std::size_t dynamic_shared_limit = std::size_t{227} * 1024;  ///< for sm_90; 163 KiB on sm_80
inline constexpr int portable_cluster_blocks = 8;  ///< every device with clusters supports it
/// The largest cluster that any device supports; the executor asks its device whether it does.
inline constexpr int max_cluster_blocks = 16;

/// Bytes that a thread loads with one instruction.
struct alignas(16) Vector16 {
  std::uint32_t word[4];
};
struct alignas(8) Vector8 {
  std::uint32_t word[2];
};

/// A kernel is a type with
///     Args                          its arguments, passed by value; trivially copyable
///     name                          its name in messages
///     threads, min_blocks           threads per block, and blocks that must fit on a multiprocessor at once
///     operator()(const Args&)       the program of one thread, SPECLAB_DEVICE
/// A kernel can derive all but the name and the operator from this base.
template <class KernelArgs, int Threads, int MinBlocks>
struct KernelOf {
  using Args = KernelArgs;
  static constexpr int threads = Threads;
  static constexpr int min_blocks = MinBlocks;
};

/// Counts what threads load from global memory.
struct Loads {
  std::uint64_t bytes = 0;
  std::uint64_t count = 0;  ///< instructions of one thread
};

struct Launch {
  const char* kernel = "";
  std::int64_t blocks = 1;  ///< 1 to max_blocks; 0: nothing is launched
  int threads = 256;        ///< threads per block: a multiple of warp_size, at most 1024
  /// Blocks per cluster, which can access one another's shared memory; divides `blocks`; above 1: sm_90.
  int cluster = 1;
  std::size_t dynamic_shared = 0;  ///< bytes per block
  /// If false, a device without clusters runs `blocks / cluster` single blocks instead.
  bool cluster_needed = true;
  /// Whether the kernel may start before the previous kernel has ended (programmatic dependent launch).
  bool early = false;
};

/// Returns the launch of a kernel with the kernel's own block size.
template <class Kernel>
Launch launch_of(std::int64_t blocks) {
  return {.kernel = Kernel::name, .blocks = blocks, .threads = Kernel::threads};
}

}  // namespace speclab::simt

// The shape of one kernel launch: the same description configures the GPU, the emulator and the dry run.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/host_device.hpp"

#if defined(__CUDACC__)
#define SPECLAB_DEVICE __device__
#define SPECLAB_UNROLL _Pragma("unroll")
/// Of a loop that a block goes through once or twice: instructions that run once cost their fetch, which
/// takes longer than they do.
#define SPECLAB_ROLLED _Pragma("unroll 1")
#else
#define SPECLAB_DEVICE
#define SPECLAB_UNROLL
#define SPECLAB_ROLLED
#endif

namespace speclab::simt {

inline constexpr int warp_size = 32;

/// Limits of every device since compute capability 8.0; a launch beyond them is refused before it starts.
inline constexpr std::int64_t max_blocks = 0x7fffffff;
inline constexpr std::size_t static_shared_limit = std::size_t{48} * 1024;
inline constexpr std::size_t dynamic_shared_limit = std::size_t{227} * 1024;  ///< sm_90; 163 KiB on sm_80
inline constexpr int portable_cluster_blocks = 8;  ///< that every device with clusters supports
inline constexpr int max_cluster_blocks = 16;  ///< that a device can support, which its executor is asked for

/// Bytes that a thread loads at once.
struct alignas(16) Vector16 {
  std::uint32_t word[4];
};
struct alignas(8) Vector8 {
  std::uint32_t word[2];
};

/// A kernel is a type with
///     Args                          what it is given, by value; trivially copyable
///     name                          for messages
///     threads, min_blocks           of a block, and blocks that shall fit a multiprocessor at once
///     operator()(const Args&)       what one thread does, SPECLAB_DEVICE
/// It can have all but the name and the operator from this base.
template <class KernelArgs, int Threads, int MinBlocks>
struct KernelOf {
  using Args = KernelArgs;
  static constexpr int threads = Threads;
  static constexpr int min_blocks = MinBlocks;
};

/// One launch.
struct Launch {
  const char* kernel = "";
  std::int64_t blocks = 1;  ///< 1 to max_blocks; 0: not launched at all
  int threads = 256;        ///< of a block: a multiple of warp_size, at most 1024
  int cluster = 1;          ///< blocks that share their shared memory; divides `blocks`; above 1: sm_90
  std::size_t dynamic_shared = 0;  ///< bytes of a block
  bool cluster_needed = true;  ///< else `blocks / cluster` blocks of their own where a device has no clusters
  bool early = false;  ///< may start before the kernel before it has ended (programmatic dependent launch)
};

/// The launch of a kernel with its own block size.
template <class Kernel>
Launch launch_of(std::int64_t blocks) {
  return {.kernel = Kernel::name, .blocks = blocks, .threads = Kernel::threads};
}

}  // namespace speclab::simt

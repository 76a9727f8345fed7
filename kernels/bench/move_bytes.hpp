// The operations that verification is compared with: reading bytes without using them, copying bytes, and
// launching an empty kernel.
#pragma once

#include <cstdint>

#include "kernels/simt/collectives.hpp"
#include "kernels/simt/launch.hpp"

namespace speclab::bench {

/// Number of vectors that a thread loads before it waits for the first.
inline constexpr int in_flight = 8;
inline constexpr int moving_threads = 256;
inline constexpr std::int64_t vectors_a_block = std::int64_t{in_flight} * moving_threads;

SPECLAB_HD inline std::int64_t moving_blocks(std::int64_t vectors) {
  return (vectors + vectors_a_block - 1) / vectors_a_block;
}

/// Returns the index of this thread's i-th vector.
SPECLAB_DEVICE inline std::int64_t vector_at(int i) {
  return simt::block_index() * vectors_a_block + simt::thread_index() + i * moving_threads;
}

struct CopyArgs {
  const simt::Vector16* from;
  simt::Vector16* to;
  std::int64_t vectors;
};

struct CopyBytes : simt::KernelOf<CopyArgs, moving_threads, 4> {
  static constexpr const char* name = "copy";

  SPECLAB_DEVICE void operator()(const Args& args) const {
    simt::Vector16 held[in_flight];
    SPECLAB_UNROLL
    for (int i = 0; i < in_flight; ++i) {
      const std::int64_t at = vector_at(i);
      if (at < args.vectors) held[i] = simt::load(args.from + at);
    }
    SPECLAB_UNROLL
    for (int i = 0; i < in_flight; ++i) {
      const std::int64_t at = vector_at(i);
      if (at < args.vectors) args.to[at] = held[i];
    }
  }

  static simt::Launch launch(std::int64_t vectors) {
    return simt::launch_of<CopyBytes>(moving_blocks(vectors));
  }
};

struct ReadArgs {
  const simt::Vector16* from;
  std::int64_t vectors;
  /// [blocks] the exclusive or of all words that a block read. Without a result the compiler could remove the
  /// reads.
  std::uint32_t* parity;
};

struct ReadBytes : simt::KernelOf<ReadArgs, moving_threads, 4> {
  static constexpr const char* name = "read";

  struct Shared {
    simt::BlockScratch<std::uint32_t, threads / simt::warp_size> scratch;
  };

  SPECLAB_DEVICE void operator()(const Args& args) const {
    simt::Vector16 held[in_flight];
    SPECLAB_UNROLL
    for (int i = 0; i < in_flight; ++i) {
      const std::int64_t at = vector_at(i);
      held[i] = at < args.vectors ? simt::load(args.from + at) : simt::Vector16{{0, 0, 0, 0}};
    }
    std::uint32_t parity = 0;
    SPECLAB_UNROLL
    for (int i = 0; i < in_flight; ++i)
      parity ^= (held[i].word[0] ^ held[i].word[1]) ^ (held[i].word[2] ^ held[i].word[3]);
    auto& shared = simt::shared<Shared>();
    parity =
        simt::block_reduce(parity, shared.scratch, [](std::uint32_t a, std::uint32_t b) { return a ^ b; });
    if (simt::thread_index() == 0) args.parity[simt::block_index()] = parity;
  }

  static simt::Launch launch(std::int64_t vectors) {
    return simt::launch_of<ReadBytes>(moving_blocks(vectors));
  }
};

struct EmptyArgs {};

struct Empty : simt::KernelOf<EmptyArgs, simt::warp_size, 1> {
  static constexpr const char* name = "empty";

  SPECLAB_DEVICE void operator()(const Args&) const {}
};

}  // namespace speclab::bench

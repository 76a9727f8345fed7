// Sums and maxima over the threads of a warp or a block, in a fixed order: the same bits at any batch size.
#pragma once

#include "kernels/simt/simt.hpp"

namespace speclab::simt {

/// combine over the 32 lanes, in the order of a butterfly; every lane gets it. `combine` must be commutative,
/// so that all lanes have the same bits.
template <class T, class Combine>
SPECLAB_DEVICE T warp_reduce(T value, const Combine& combine) {
  for (int mask = warp_size / 2; mask > 0; mask /= 2) value = combine(value, shuffle_xor(value, mask));
  return value;
}

template <class T>
SPECLAB_DEVICE T warp_sum(T value) {
  return warp_reduce(value, [](T a, T b) { return a + b; });
}

/// Room for a block's reductions: one for each type and number that are in use at the same time.
template <class T, int Warps>
struct BlockScratch {
  T of_warp[Warps];
};

/// combine over all threads of a block of `Warps` warps, warp after warp; every thread gets it. `scratch` is
/// shared memory that nothing else uses from one `sync` before to one `sync` after.
template <int Warps, class T, class Combine>
SPECLAB_DEVICE T block_reduce(T value, BlockScratch<T, Warps>& scratch, const Combine& combine) {
  value = warp_reduce(value, combine);
  if (thread_index() % warp_size == 0) scratch.of_warp[thread_index() / warp_size] = value;
  sync();
  T all = scratch.of_warp[0];
  for (int warp = 1; warp < Warps; ++warp) all = combine(all, scratch.of_warp[warp]);
  return all;
}

/// Sum over the lanes below this one and itself.
template <class T>
SPECLAB_DEVICE T warp_inclusive_sum(T value) {
  const int lane = thread_index() % warp_size;
  for (int by = 1; by < warp_size; by *= 2) {
    const T below = shuffle_up(value, by);
    if (lane >= by) value = below + value;
  }
  return value;
}

}  // namespace speclab::simt

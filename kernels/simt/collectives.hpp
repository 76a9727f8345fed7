// Reduces values over the threads of a warp or a block in a fixed order, so that results have the same bits
// at any batch size.
#pragma once

#include "kernels/simt/simt.hpp"

namespace speclab::simt {

template <class T>
SPECLAB_DEVICE T warp_sum(T value) {
  return warp_reduce(value, [](T a, T b) { return a + b; });
}

/// Shared memory for a block's reductions. Reductions that are in use at the same time need a scratch each.
template <class T, int Warps>
struct BlockScratch {
  T of_warp[Warps];
};

/// Combines the values of all threads of a block of `Warps` warps, warp after warp, and returns the result to
/// every thread. `scratch` is shared memory that nothing else uses from the `sync` before the call to the
/// `sync` after it.
template <int Warps, class T, class Combine>
SPECLAB_DEVICE T block_reduce(T value, BlockScratch<T, Warps>& scratch, const Combine& combine) {
  value = warp_reduce(value, combine);
  if (thread_index() % warp_size == 0) scratch.of_warp[thread_index() / warp_size] = value;
  sync();
  T all = scratch.of_warp[0];
  for (int warp = 1; warp < Warps; ++warp) all = combine(all, scratch.of_warp[warp]);
  return all;
}

}  // namespace speclab::simt

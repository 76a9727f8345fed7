// The operations of a kernel's thread, on the GPU or in the emulator:
//     thread_index() block_index()
//     sync()                               waits for all threads of the block
//     shuffle_xor(value, mask)  shuffle_up(value, by)  shuffle(value, lane)  ballot(condition)     exchange
//                                          values of 4 or 8 bytes within a warp; shuffle_up returns its own value
//                                          to a lane below `by`
//     warp_reduce(value, combine)          combines the 32 lanes in the order of a butterfly, lane ^ 16, 8, 4, 2, 1;
//                                          `combine` must be commutative, so that all lanes have the same bits
//     warp_inclusive_sum(value)            adds the lanes up to and including this one, by doubling distances
//     lowest_bit(bits)  highest_bit(bits)  return a bit's index in the result of ballot
//     shared<S>()                          returns one S of the block, not initialised
//     dynamic_shared()                     returns Launch::dynamic_shared bytes of the block, aligned to 16
//     load(pointer)                        loads data that no thread writes meanwhile, bypassing the L1 cache
//     load_cached(pointer)                 does the same through the L1 cache, for neighbours that are read soon
//     copy_to_shared(to, from)             starts to copy 16 bytes of global memory that no thread writes meanwhile;
//                                          this thread finds them at `to` once it has waited
//     end_copies()                         ends a group of copies, which may be empty
//     wait_for_copies<n>()                 waits for all groups that this thread has ended but the last n
//     load_fresh(pointer)                  loads data that another block wrote before a fence and a fetch_add
//     fence()                              orders accesses to global memory
//     fetch_add(address, value)            adds to global or shared memory; returns the value before
//     wait_for_previous()  let_next_start()     order a launch that is `early`
//     cluster_rank() cluster_size() cluster_sync() cluster_shared(pointer, rank)
#pragma once

#if defined(__CUDACC__)
#include "kernels/simt/cuda_thread.hpp"
#else
#include "kernels/simt/emulated_thread.hpp"
#endif

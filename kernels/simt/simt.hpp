// What a thread of a kernel can ask for, on the GPU or in the emulator:
//     thread_index() block_index()
//     sync()                               all threads of the block
//     shuffle_xor(value, mask)  shuffle_up(value, by)  shuffle(value, lane)  ballot(condition)     within a
//                                          warp; values of 4 or 8 bytes; shuffle_up gives a lane below `by`
//                                          its own value
//     warp_reduce(value, combine)          over the 32 lanes in the order of a butterfly, lane ^ 16, 8, 4, 2, 1;
//                                          `combine` must be commutative, so that all lanes have the same bits
//     warp_inclusive_sum(value)            over the lanes below this one and itself, by doubling distances
//     lowest_bit(bits)  highest_bit(bits)  of what ballot gives
//     shared<S>()                          one S of the block, not initialised
//     dynamic_shared()                     Launch::dynamic_shared bytes of the block, aligned to 16
//     load(pointer)                        of data that no thread writes meanwhile: past the first cache
//     load_cached(pointer)                 the same through the first cache, for neighbours that are read soon
//     copy_to_shared(to, from)             starts to copy 16 bytes of global memory that no thread writes meanwhile;
//                                          this thread finds them at `to` once it has waited
//     end_copies()                         ends a group of copies, which may be empty
//     wait_for_copies<n>()                 for all groups that this thread has ended but the last n
//     load_fresh(pointer)                  of data that another block wrote before a fence and a fetch_add
//     fence()                              of global memory
//     fetch_add(address, value)            on global or shared memory; returns what was there
//     wait_for_previous()  let_next_start()     around a launch that is `early`
//     cluster_rank() cluster_size() cluster_sync() cluster_shared(pointer, rank)
#pragma once

#if defined(__CUDACC__)
#include "kernels/simt/cuda_thread.hpp"
#else
#include "kernels/simt/emulated_thread.hpp"
#endif

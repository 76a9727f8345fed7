// Implements simt.hpp on a GPU, by CUDA's intrinsics.
#pragma once

#include <cuda_pipeline_primitives.h>
#include <cuda_runtime.h>

#include <cstdint>

#include "kernels/simt/launch.hpp"

namespace speclab::simt {

inline constexpr unsigned whole_warp = 0xffffffffU;

SPECLAB_DEVICE inline int thread_index() { return static_cast<int>(threadIdx.x); }
SPECLAB_DEVICE inline std::int64_t block_index() { return blockIdx.x; }

SPECLAB_DEVICE inline void sync() { __syncthreads(); }

template <class T>
SPECLAB_DEVICE T shuffle_xor(T value, int mask) {
  return __shfl_xor_sync(whole_warp, value, mask);
}
template <class T>
SPECLAB_DEVICE T shuffle_up(T value, int by) {
  return __shfl_up_sync(whole_warp, value, static_cast<unsigned>(by));
}
template <class T>
SPECLAB_DEVICE T shuffle(T value, int lane) {
  return __shfl_sync(whole_warp, value, lane);
}
SPECLAB_DEVICE inline std::uint32_t ballot(bool condition) { return __ballot_sync(whole_warp, condition); }

template <class T, class Combine>
SPECLAB_DEVICE T warp_reduce(T value, const Combine& combine) {
  for (int mask = warp_size / 2; mask > 0; mask /= 2) value = combine(value, shuffle_xor(value, mask));
  return value;
}
template <class T>
SPECLAB_DEVICE T warp_inclusive_sum(T value) {
  const int lane = thread_index() % warp_size;
  for (int by = 1; by < warp_size; by *= 2) {
    const T below = shuffle_up(value, by);
    if (lane >= by) value = below + value;
  }
  return value;
}

/// Returns -1 if `bits` is 0; so does highest_bit.
SPECLAB_DEVICE inline int lowest_bit(std::uint32_t bits) { return __ffs(static_cast<int>(bits)) - 1; }
SPECLAB_DEVICE inline int highest_bit(std::uint32_t bits) { return 31 - __clz(static_cast<int>(bits)); }

template <class S>
SPECLAB_DEVICE S& shared() {
  __shared__ alignas(16) unsigned char bytes[sizeof(S)];
  return *reinterpret_cast<S*>(bytes);
}

SPECLAB_DEVICE inline unsigned char* dynamic_shared() {
  extern __shared__ __align__(16) unsigned char speclab_dynamic_shared[];
  return speclab_dynamic_shared;
}

template <class T>
SPECLAB_DEVICE T load(const T* address) {
  return __ldcg(address);
}
SPECLAB_DEVICE inline Vector16 load(const Vector16* address) {
  const uint4 words = __ldcg(reinterpret_cast<const uint4*>(address));
  return {{words.x, words.y, words.z, words.w}};
}
SPECLAB_DEVICE inline Vector8 load(const Vector8* address) {
  const uint2 words = __ldcg(reinterpret_cast<const uint2*>(address));
  return {{words.x, words.y}};
}
template <class T>
SPECLAB_DEVICE T load_cached(const T* address) {
  return __ldg(address);
}
SPECLAB_DEVICE inline Vector16 load_cached(const Vector16* address) {
  const uint4 words = __ldg(reinterpret_cast<const uint4*>(address));
  return {{words.x, words.y, words.z, words.w}};
}
SPECLAB_DEVICE inline Vector8 load_cached(const Vector8* address) {
  const uint2 words = __ldg(reinterpret_cast<const uint2*>(address));
  return {{words.x, words.y}};
}
SPECLAB_DEVICE inline void copy_to_shared(Vector16* to, const Vector16* from) {
  __pipeline_memcpy_async(to, from, sizeof(Vector16));
}
SPECLAB_DEVICE inline void end_copies() { __pipeline_commit(); }
template <int but>
SPECLAB_DEVICE void wait_for_copies() {
  __pipeline_wait_prior(but);
}
template <class T>
SPECLAB_DEVICE T load_fresh(const T* address) {
  return __ldcg(address);
}

SPECLAB_DEVICE inline void fence() { __threadfence(); }
SPECLAB_DEVICE inline std::uint32_t fetch_add(std::uint32_t* address, std::uint32_t value) {
  return atomicAdd(address, value);
}
SPECLAB_DEVICE inline std::uint64_t fetch_add(std::uint64_t* address, std::uint64_t value) {
  static_assert(sizeof(std::uint64_t) == sizeof(unsigned long long));
  return atomicAdd(reinterpret_cast<unsigned long long*>(address), static_cast<unsigned long long>(value));
}

// Programmatic dependent launch and clusters came with sm_90. On older devices an early launch is an ordinary
// one.
SPECLAB_DEVICE inline void wait_for_previous() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  cudaGridDependencySynchronize();
#endif
}
SPECLAB_DEVICE inline void let_next_start() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  cudaTriggerProgrammaticLaunchCompletion();
#endif
}

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
SPECLAB_DEVICE inline int cluster_rank() { return static_cast<int>(__clusterRelativeBlockRank()); }
SPECLAB_DEVICE inline int cluster_size() { return static_cast<int>(__clusterSizeInBlocks()); }
SPECLAB_DEVICE inline void cluster_sync() {
  __cluster_barrier_arrive();
  __cluster_barrier_wait();
}
/// Returns the address of the same variable in the block with rank `rank`.
template <class T>
SPECLAB_DEVICE T* cluster_shared(T* pointer, int rank) {
  return static_cast<T*>(__cluster_map_shared_rank(pointer, static_cast<unsigned>(rank)));
}
#else
SPECLAB_DEVICE inline int cluster_rank() { return 0; }
SPECLAB_DEVICE inline int cluster_size() { return 1; }
SPECLAB_DEVICE inline void cluster_sync() { __syncthreads(); }
template <class T>
SPECLAB_DEVICE T* cluster_shared(T* pointer, int) {
  return pointer;
}
#endif

}  // namespace speclab::simt

// A thread in the emulator: simt.hpp over fibers. All threads of a cluster run in one thread of the host, so
// that atomics and fences need nothing.
#pragma once

#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "kernels/simt/launch.hpp"

namespace speclab::simt {

namespace emulated {

/// Where threads wait for one another.
struct Barrier {
  int expected = 0;
  int arrived = 0;
  std::uint64_t generation = 0;
};

/// What the lanes of a warp hand to one another; two sides, so that one barrier an exchange suffices.
struct Warp {
  Barrier barrier;
  std::uint64_t slots[2][warp_size];
};

struct Block;

struct Thread {
  int index = 0;
  Block* block = nullptr;
  Warp* warp = nullptr;
  int side = 0;  ///< of the warp's slots, in the next exchange
};

/// The thread that is running.
Thread& self();
std::int64_t block_index();
int cluster_rank();
int cluster_size();
void wait_at_block();
void wait_at_cluster();
void wait_at_warp();
/// Storage of the running thread's block under a key, filled with a pattern when first asked for.
void* shared_storage(const void* key, std::size_t bytes);
unsigned char* dynamic_storage();
/// The same place in the storage of another block of the cluster. The blocks must have asked for it before.
void* in_block(void* pointer, int rank);
void count_load(std::size_t bytes);

/// Every lane's value, for each of them to pick from.
template <class T, class Choose>
T exchange(T value, const Choose& choose) {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= sizeof(std::uint64_t));
  Thread& me = self();
  Warp& warp = *me.warp;
  const int side = me.side;
  me.side ^= 1;
  std::memcpy(&warp.slots[side][me.index % warp_size], &value, sizeof(T));
  wait_at_warp();
  T other;
  std::memcpy(&other, &warp.slots[side][choose(me.index % warp_size)], sizeof(T));
  return other;
}

template <class S>
inline constexpr char shared_key = 0;

}  // namespace emulated

inline int thread_index() { return emulated::self().index; }
inline std::int64_t block_index() { return emulated::block_index(); }

inline void sync() { emulated::wait_at_block(); }

template <class T>
T shuffle_xor(T value, int mask) {
  return emulated::exchange(value, [mask](int lane) { return lane ^ mask; });
}
template <class T>
T shuffle_up(T value, int by) {
  return emulated::exchange(value, [by](int lane) { return lane < by ? lane : lane - by; });
}
template <class T>
T shuffle(T value, int lane) {
  return emulated::exchange(value, [lane](int) { return lane; });
}
inline std::uint32_t ballot(bool condition) {
  std::uint32_t bits = condition ? 1U << static_cast<unsigned>(thread_index() % warp_size) : 0U;
  for (int mask = 1; mask < warp_size; mask *= 2) bits |= shuffle_xor(bits, mask);
  return bits;
}

/// -1 of no bits.
inline int lowest_bit(std::uint32_t bits) { return bits == 0 ? -1 : std::countr_zero(bits); }
inline int highest_bit(std::uint32_t bits) { return 31 - std::countl_zero(bits); }

template <class S>
S& shared() {
  return *static_cast<S*>(emulated::shared_storage(&emulated::shared_key<S>, sizeof(S)));
}
inline unsigned char* dynamic_shared() { return emulated::dynamic_storage(); }

template <class T>
T load(const T* address) {
  assert(reinterpret_cast<std::uintptr_t>(address) % alignof(T) == 0);
  emulated::count_load(sizeof(T));
  return *address;
}
template <class T>
T load_cached(const T* address) {
  return load(address);
}
template <class T>
T load_fresh(const T* address) {
  return load(address);
}

inline void fence() {}
template <class T>
T fetch_add(T* address, T value) {
  const T before = *address;
  *address = before + value;
  return before;
}

inline void wait_for_previous() {}
inline void let_next_start() {}

inline int cluster_rank() { return emulated::cluster_rank(); }
inline int cluster_size() { return emulated::cluster_size(); }
inline void cluster_sync() { emulated::wait_at_cluster(); }
template <class T>
T* cluster_shared(T* pointer, int rank) {
  return static_cast<T*>(emulated::in_block(pointer, rank));
}

}  // namespace speclab::simt

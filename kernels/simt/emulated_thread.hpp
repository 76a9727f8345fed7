// Implements simt.hpp in the emulator, over fibers. All threads of a cluster run in one host thread, so that
// atomics and fences need no code.
#pragma once

#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "kernels/simt/launch.hpp"
#include "kernels/simt/observer.hpp"

// Marks accesses to the emulator's own memory, which a race detector must not see.
#if defined(__SANITIZE_THREAD__)
#define SPECLAB_UNWATCHED __attribute__((no_sanitize("thread"), noinline))
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define SPECLAB_UNWATCHED __attribute__((no_sanitize("thread"), noinline))
#endif
#endif
#ifndef SPECLAB_UNWATCHED
#define SPECLAB_UNWATCHED
#endif

namespace speclab::simt {

namespace emulated {

/// A place where threads wait for one another.
struct Barrier {
  int expected = 0;
  int arrived = 0;
  std::uint64_t generation = 0;
};

/// The values that the lanes of a warp exchange. It has two sides, so that one barrier per exchange suffices.
struct Warp {
  Barrier barrier;
  std::uint64_t slots[2][warp_size];
};

struct Block;

/// The copies into shared memory that a thread has started and not waited for, in order. They are made when
/// the thread waits.
class PendingCopies {
 public:
  struct Copy {
    Vector16* to;
    const Vector16* from;
  };

  SPECLAB_UNWATCHED void add(Vector16* to, const Vector16* from) {
    assert(count_ < max_copies);
    copies_[count_++] = {to, from};
  }
  SPECLAB_UNWATCHED void end_group() {
    assert(groups_ < max_groups);
    ends_[groups_++] = count_;
  }
  /// Returns the number of copies in all groups but the last `but`.
  SPECLAB_UNWATCHED int due(int but) const { return groups_ > but ? ends_[groups_ - but - 1] : 0; }
  SPECLAB_UNWATCHED Copy at(int i) const { return copies_[i]; }
  /// Removes the copies that `due(but)` counts.
  SPECLAB_UNWATCHED void drop_due(int but) {
    const int gone = due(but);
    for (int i = gone; i < count_; ++i) copies_[i - gone] = copies_[i];
    count_ -= gone;
    const int kept = groups_ < but ? groups_ : but;
    for (int i = 0; i < kept; ++i) ends_[i] = ends_[groups_ - kept + i] - gone;
    groups_ = kept;
  }

 private:
  /// Enough to fill a block's shared memory if all its threads copy.
  static constexpr int max_copies = 64;
  static constexpr int max_groups = 8;
  Copy copies_[max_copies];
  int ends_[max_groups];  ///< number of copies before the end of each group
  int count_ = 0;
  int groups_ = 0;
};

struct Thread {
  int index = 0;
  Block* block = nullptr;
  Warp* warp = nullptr;
  int side = 0;  ///< side of the warp's slots for the next exchange
  PendingCopies pending;
};

/// The thread that runs, the counter of what its launch has loaded, and the observer (or null).
extern constinit thread_local Thread* running;
extern constinit thread_local Loads* loads;
extern constinit thread_local Observer* observer;
inline Thread& self() { return *running; }
SPECLAB_UNWATCHED inline void count_loaded(std::size_t bytes) {
  loads->bytes += bytes;
  ++loads->count;
}
std::int64_t block_index();
int cluster_rank();
int cluster_size();
void wait_at_block();
void wait_at_cluster();
void wait_at_warp();
/// Returns storage of the running thread's block for a key, filled with a pattern when it is first asked for.
void* shared_storage(const void* key, std::size_t bytes);
unsigned char* dynamic_storage();
/// Returns the same place in the storage of the block with rank `rank` in the cluster. That block must have
/// asked for the storage before.
void* in_block(void* pointer, int rank);

/// The values that the lanes gave to an exchange. The slots stay valid until the next exchange but one of the
/// running thread's warp.
template <class T>
struct Lanes {
  const std::uint64_t* slots;

  SPECLAB_UNWATCHED T operator[](int lane) const {
    T value;
    std::memcpy(&value, &slots[lane], sizeof(T));
    return value;
  }
};
template <class T>
SPECLAB_UNWATCHED Lanes<T> exchange(T value) {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= sizeof(std::uint64_t));
  Thread& me = self();
  std::uint64_t* const slots = me.warp->slots[me.side];
  me.side ^= 1;
  std::memcpy(&slots[me.index % warp_size], &value, sizeof(T));
  wait_at_warp();
  return {slots};
}

template <class S>
inline constexpr char shared_key = 0;

}  // namespace emulated

inline int thread_index() { return emulated::self().index; }
inline std::int64_t block_index() { return emulated::block_index(); }

inline void sync() { emulated::wait_at_block(); }

inline int lane_index() { return thread_index() % warp_size; }

template <class T>
T shuffle_xor(T value, int mask) {
  return emulated::exchange(value)[lane_index() ^ mask];
}
template <class T>
T shuffle_up(T value, int by) {
  const int lane = lane_index();
  return emulated::exchange(value)[lane < by ? lane : lane - by];
}
template <class T>
T shuffle(T value, int lane) {
  return emulated::exchange(value)[lane];
}
inline std::uint32_t ballot(bool condition) {
  const auto conditions = emulated::exchange(condition);
  std::uint32_t bits = 0;
  for (int lane = 0; lane < warp_size; ++lane)
    bits |= static_cast<std::uint32_t>(conditions[lane]) << static_cast<unsigned>(lane);
  return bits;
}
// Each thread combines the values of all lanes itself, in the order of a GPU's shuffles: this takes one
// exchange instead of five.
template <class T, class Combine>
T warp_reduce(T value, const Combine& combine) {
  const auto lanes = emulated::exchange(value);
  const int mine = lane_index();
  T of[warp_size];
  for (int lane = 0; lane < warp_size; ++lane) of[lane] = lanes[lane ^ mine];
  for (int mask = warp_size / 2; mask > 0; mask /= 2) {
    for (int lane = 0; lane < mask; ++lane) of[lane] = combine(of[lane], of[lane + mask]);
  }
  return of[0];
}
template <class T>
T warp_inclusive_sum(T value) {
  const auto lanes = emulated::exchange(value);
  const int mine = lane_index();
  T below[warp_size];
  for (int by = 0; by <= mine; ++by) below[by] = lanes[mine - by];
  for (int by = 1; by <= mine; by *= 2) {
    for (int at = 0; at + by <= mine; at += 2 * by) below[at] = below[at + by] + below[at];
  }
  return below[0];
}

/// Returns -1 if `bits` is 0; so does highest_bit.
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
  emulated::count_loaded(sizeof(T));
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

inline void copy_to_shared(Vector16* to, const Vector16* from) {
  assert(reinterpret_cast<std::uintptr_t>(from) % alignof(Vector16) == 0);
  emulated::count_loaded(sizeof(Vector16));
  // A thread that does not wait reads this value.
  *to = {{~0U, ~0U, ~0U, ~0U}};
  emulated::self().pending.add(to, from);
}
inline void end_copies() { emulated::self().pending.end_group(); }
template <int but>
void wait_for_copies() {
  emulated::PendingCopies& pending = emulated::self().pending;
  const int due = pending.due(but);
  for (int i = 0; i < due; ++i) {
    const auto copy = pending.at(i);
    *copy.to = *copy.from;
  }
  pending.drop_due(but);
}

inline void fence() {
  if (emulated::observer != nullptr) emulated::observer->fences();
}
template <class T>
SPECLAB_UNWATCHED T fetch_add(T* address, T value) {
  if (emulated::observer != nullptr) emulated::observer->adds(address, sizeof(T));
  const T before = *address;
  *address = before + value;
  return before;
}

inline void wait_for_previous() {
  if (emulated::observer != nullptr) emulated::observer->waits_for_previous();
}
inline void let_next_start() {
  if (emulated::observer != nullptr) emulated::observer->lets_next_start();
}

inline int cluster_rank() { return emulated::cluster_rank(); }
inline int cluster_size() { return emulated::cluster_size(); }
inline void cluster_sync() { emulated::wait_at_cluster(); }
template <class T>
T* cluster_shared(T* pointer, int rank) {
  return static_cast<T*>(emulated::in_block(pointer, rank));
}

}  // namespace speclab::simt

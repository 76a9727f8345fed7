// Runs loops over indices in parallel, with oneTBB. Threads are used only here.
#pragma once

#include <algorithm>
#include <cstddef>
#include <type_traits>

// libtbb is not built for ThreadSanitizer, which therefore does not know that a loop starts before its bodies
// and ends after them. These functions declare that order; sim/parallel.cpp itself is not instrumented.
#if defined(__SANITIZE_THREAD__)
extern "C" {
void __tsan_acquire(void* address);
void __tsan_release(void* address);
}
#define SPECLAB_TSAN_ACQUIRE(address) __tsan_acquire(address)
#define SPECLAB_TSAN_RELEASE(address) __tsan_release(address)
#else
#define SPECLAB_TSAN_ACQUIRE(address) static_cast<void>(address)
#define SPECLAB_TSAN_RELEASE(address) static_cast<void>(address)
#endif

namespace speclab {

/// Returns the number of threads that a loop started here may use.
int concurrency();

/// Calls call(body, i) for i = 0..count-1, until one returns false; see for_each_index.
void run_indices(std::size_t count, bool (*call)(const void* body, std::size_t index), const void* body);

/// Calls call(body) such that loops inside it run no work of other loops while they wait. Needed around loops
/// under a lock or std::call_once: otherwise such work may wait for the thread's own lock, forever.
void run_isolated(void (*call)(const void* body), const void* body);

template <class Body>
void isolated(const Body& body) {
  run_isolated([](const void* erased) { (*static_cast<const Body*>(erased))(); }, &body);
}

/// Calls body(i) for i = 0..count-1 (std::size_t), in any order and from any thread; returns when all are
/// done. Loops may nest, and poll the caller's stop function (core/stop.hpp). An exception of a body ends the
/// loop and is rethrown. A body may return bool; after false no further body starts.
template <class Body>
void for_each_index(std::size_t count, const Body& body) {
  struct Loop {
    const Body& body;
    mutable char started = 0;
    mutable char finished = 0;
  };
  // A destructor, so that this also happens after exceptions.
  struct BodyEnds {
    const Loop& loop;
    ~BodyEnds() { SPECLAB_TSAN_RELEASE(&loop.finished); }
  };
  struct LoopEnds {
    const Loop& loop;
    ~LoopEnds() { SPECLAB_TSAN_ACQUIRE(&loop.finished); }
  };
  const Loop loop{body};
  const auto call = [](const void* erased, std::size_t index) {
    const Loop& here = *static_cast<const Loop*>(erased);
    SPECLAB_TSAN_ACQUIRE(&here.started);
    const BodyEnds end{here};
    if constexpr (std::is_void_v<decltype(here.body(index))>) {
      here.body(index);
      return true;
    } else {
      return here.body(index);
    }
  };
  SPECLAB_TSAN_RELEASE(&loop.started);
  const LoopEnds end{loop};
  run_indices(count, call, &loop);
}

/// Calls body(first, last) for pieces of 0..count-1, of `size` indices but for the last, as for_each_index
/// does for indices.
template <class Body>
void for_each_piece(std::size_t count, std::size_t size, const Body& body) {
  for_each_index((count + size - 1) / size,
                 [&](std::size_t piece) { return body(piece * size, std::min(count, (piece + 1) * size)); });
}

}  // namespace speclab

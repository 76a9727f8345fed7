// Storage for large tables that are read at random: aligned to cache lines, and to huge pages where the
// system has them, so that a read costs one cache miss and no page walk.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <new>
#include <vector>
#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace speclab {

template <class T>
struct HugePages {
  using value_type = T;

  HugePages() = default;
  template <class U>
  explicit HugePages(const HugePages<U>&) {}

  T* allocate(std::size_t count) {
    constexpr std::size_t line = 64;
    constexpr std::size_t page = std::size_t{1} << 21U;
    const std::size_t alignment = count * sizeof(T) >= page ? page : line;
    const std::size_t bytes = (count * sizeof(T) + alignment - 1) / alignment * alignment;
    void* const memory = std::aligned_alloc(alignment, bytes);
    if (memory == nullptr) throw std::bad_alloc();
#if defined(__linux__)
    // This is advice to the system; if ignored, the table is only slower.
    if (alignment == page) madvise(memory, bytes, MADV_HUGEPAGE);
#endif
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, std::size_t) { std::free(memory); }

  bool operator==(const HugePages&) const { return true; }
};

template <class T>
using BigTable = std::vector<T, HugePages<T>>;

}  // namespace speclab

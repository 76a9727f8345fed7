// Replaces ThreadSanitizer's library: defines the functions that code compiled with -fsanitize=thread calls,
// and reports accesses to the detector of the emulated thread that makes them. Names and arguments are those
// of GCC's ThreadSanitizer instrumentation.
#include <cstddef>
#include <cstdint>

#include "tests/kernels/races/race_detector.hpp"

namespace {

using speclab::simt::Access;

inline void tell(Access kind, const void* address, std::size_t bytes, const void* code) {
  if (speclab::simt::RaceDetector* const detector = speclab::simt::running_detector()) {
    detector->access(kind, address, bytes, code);
  }
}

}  // namespace

#define SPECLAB_TOLD(name, kind, bytes) \
  void name(void* address) { tell(kind, address, bytes, __builtin_return_address(0)); }
#define SPECLAB_TOLD_OF(bytes)                                    \
  SPECLAB_TOLD(__tsan_read##bytes, Access::read, bytes)           \
  SPECLAB_TOLD(__tsan_write##bytes, Access::write, bytes)         \
  SPECLAB_TOLD(__tsan_unaligned_read##bytes, Access::read, bytes) \
  SPECLAB_TOLD(__tsan_unaligned_write##bytes, Access::write, bytes)

// NOLINTBEGIN(bugprone-reserved-identifier)
extern "C" {

SPECLAB_TOLD_OF(1)
SPECLAB_TOLD_OF(2)
SPECLAB_TOLD_OF(4)
SPECLAB_TOLD_OF(8)
SPECLAB_TOLD_OF(16)

void __tsan_read_range(void* address, std::size_t bytes) {
  tell(Access::read, address, bytes, __builtin_return_address(0));
}
void __tsan_write_range(void* address, std::size_t bytes) {
  tell(Access::write, address, bytes, __builtin_return_address(0));
}
void __tsan_vptr_update(void* address, void*) {
  tell(Access::write, address, sizeof(void*), __builtin_return_address(0));
}
void __tsan_vptr_read(void* address) {
  tell(Access::read, address, sizeof(void*), __builtin_return_address(0));
}

/// Code that initialises function-local variables at their first use calls this; these accesses are the
/// host's.
std::uint8_t __tsan_atomic8_load(const volatile std::uint8_t* address, int) {
  return __atomic_load_n(address, __ATOMIC_ACQUIRE);
}
void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
}
// NOLINTEND(bugprone-reserved-identifier)

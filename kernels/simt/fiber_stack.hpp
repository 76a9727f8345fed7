// The stacks of the emulator's fibers.
#pragma once

#include <boost/context/protected_fixedsize_stack.hpp>
#include <cstddef>
#include <vector>
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace speclab::simt::emulated {

inline constexpr std::size_t stack_bytes = std::size_t{64} * 1024;

/// Tells AddressSanitizer, if the program runs under it, which stack is in use.
struct StackOfFiber {
  const void* bottom = nullptr;
  std::size_t size = 0;
  void* fake = nullptr;

  /// Called before a switch from this stack to `other`.
  void leave_for([[maybe_unused]] const StackOfFiber& other) {
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_start_switch_fiber(&fake, other.bottom, other.size);
#endif
  }
  /// Called after a switch to this stack; records where `from` is.
  void arrive([[maybe_unused]] StackOfFiber& from) {
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_finish_switch_fiber(fake, &from.bottom, &from.size);
#endif
  }
};

/// Keeps the stacks of earlier launches for later ones: a launch has up to 2,048, and mapping one takes
/// longer than many a kernel.
class KeptStacks {
 public:
  KeptStacks() = default;
  KeptStacks(const KeptStacks&) = delete;
  KeptStacks& operator=(const KeptStacks&) = delete;
  ~KeptStacks() {
    for (boost::context::stack_context& stack : kept_) pages_.deallocate(stack);
  }

  boost::context::stack_context take() {
    if (kept_.empty()) return pages_.allocate();
    const boost::context::stack_context stack = kept_.back();
    kept_.pop_back();
    return stack;
  }
  void put_back(const boost::context::stack_context& stack) { kept_.push_back(stack); }

 private:
  boost::context::protected_fixedsize_stack pages_{stack_bytes};
  std::vector<boost::context::stack_context> kept_;
};
inline thread_local KeptStacks kept_stacks;

/// Allocates a fiber's stack and records where it is. Clears AddressSanitizer's marks of earlier use, so that
/// a stack starts clean.
class StackMaker {
 public:
  explicit StackMaker(StackOfFiber& made) : made_(&made) {}

  boost::context::stack_context allocate() {
    const boost::context::stack_context stack = kept_stacks.take();
    made_->bottom = static_cast<unsigned char*>(stack.sp) - stack_bytes;
    made_->size = stack_bytes;
#if defined(__SANITIZE_ADDRESS__)
    __asan_unpoison_memory_region(made_->bottom, made_->size);
#endif
    return stack;
  }
  void deallocate(boost::context::stack_context& stack) { kept_stacks.put_back(stack); }

 private:
  StackOfFiber* made_;
};

}  // namespace speclab::simt::emulated

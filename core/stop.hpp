// Lets others end long work, for example with Ctrl-C.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>

namespace speclab {

/// Thrown by work that is ended before it has any result.
struct Stopped {};

/// The function that work of this thread asks whether to end; null if nobody ends it. Loops that are shared
/// out among threads pass it on (sim/parallel.hpp).
inline constinit thread_local const std::function<bool()>* stop_of_this_thread = nullptr;

/// While it lives, work of this thread asks `stop` whether to end. Scopes nest.
class StopScope {
 public:
  explicit StopScope(const std::function<bool()>* stop) : outer_(std::exchange(stop_of_this_thread, stop)) {}
  ~StopScope() { stop_of_this_thread = outer_; }
  StopScope(const StopScope&) = delete;
  StopScope& operator=(const StopScope&) = delete;

 private:
  const std::function<bool()>* outer_;
};

inline bool stop_asked() { return stop_of_this_thread != nullptr && (*stop_of_this_thread)(); }

/// Throws Stopped if the work shall end. Loops call it if their partial result is useless; loops with a
/// useful partial result ask a Control (sim/control.hpp) instead, and return it.
inline void end_if_stopped() {
  if (stop_asked()) throw Stopped{};
}

/// Does the same for loops whose steps take less time than the question: it asks at every `stride`-th step.
class StopCounter {
 public:
  explicit StopCounter(std::uint32_t stride) : stride_(stride) {}
  void step() {
    if (++steps_ < stride_) return;
    steps_ = 0;
    end_if_stopped();
  }

 private:
  std::uint32_t stride_;
  std::uint32_t steps_ = 0;
};

}  // namespace speclab

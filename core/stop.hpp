// Lets the caller stop long work, for example on Ctrl-C.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>

namespace speclab {

/// Thrown by work that is stopped before it has any result.
struct Stopped {};

/// The function that tells work of this thread whether to stop; null if nothing stops it. Parallel loops pass
/// it to their threads (sim/parallel.hpp).
inline constinit thread_local const std::function<bool()>* stop_of_this_thread = nullptr;

/// During its lifetime, `stop` tells work of this thread whether to stop. Scopes nest.
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

/// Throws Stopped if the work is to stop. Loops call it if their partial result is useless; others ask a
/// Control (sim/control.hpp) and return the partial result.
inline void end_if_stopped() {
  if (stop_asked()) throw Stopped{};
}

/// Calls end_if_stopped at every `stride`-th step, for loops whose steps take less time than the call.
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

// Ctrl-C asks politely once, and does not wait for long.
#pragma once

#include <signal.h>
#include <time.h>

#include <functional>

#include "core/stop.hpp"

namespace speclab {

/// While it lives, the first SIGINT or SIGTERM raises a flag, so that work can stop and what there is can be
/// written: all work of the thread that made it asks for the flag (core/stop.hpp). What has not ended
/// after `seconds` of processor time of the thread that made it, or of every thread, then ends with
/// `exit_code` at once; files that are written
/// atomically are the old ones or the new ones. The same signal a second time takes its default action. The
/// former handlers come back at the end. One at a time, made and destroyed by the main thread.
class InterruptGuard {
 public:
  explicit InterruptGuard(int exit_code = 130, double seconds = 0.4);
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

 private:
  struct sigaction former_interrupt_ = {};
  struct sigaction former_terminate_ = {};
  struct sigaction former_limit_ = {};
  std::function<bool()> stop_;
  StopScope scope_;
};

/// True once a signal has come since the latest InterruptGuard was made. Any thread may ask, at the cost of a
/// load.
bool interrupted();

/// How many threads an interrupted program may use up its processor time with; those of the machine unless
/// said otherwise.
void set_interrupted_threads(int threads);

}  // namespace speclab

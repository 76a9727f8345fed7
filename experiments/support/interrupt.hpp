// Ctrl-C asks politely once.
#pragma once

#include <signal.h>

namespace speclab {

/// While it lives, the first SIGINT or SIGTERM only raises a flag, so that the run can stop between rounds
/// and report what it has. The same signal a second time takes its default action: the program ends at once.
/// The former handlers come back at the end. One at a time, made and destroyed by the main thread.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

 private:
  struct sigaction former_interrupt_ = {};
  struct sigaction former_terminate_ = {};
};

/// True once a signal has come since the latest InterruptGuard was made. Any thread may ask, at the cost of a
/// load.
bool interrupted();

/// Ends work that has nothing to show for itself when it is interrupted; run_program says so.
struct Interrupted {};
/// Throws Interrupted once a signal has come.
inline void end_if_interrupted() {
  if (interrupted()) throw Interrupted{};
}

}  // namespace speclab

// Handles Ctrl-C: the first one asks the work to stop; the program ends if that takes too long.
#pragma once

#include <signal.h>
#include <time.h>

#include <array>
#include <functional>

#include "core/stop.hpp"

namespace speclab {

/// During its lifetime, the first SIGINT, SIGTERM or unignored SIGHUP raises a flag that all work of the
/// thread that made the guard checks (core/stop.hpp), so that results so far can be written. If the work does
/// not end within `seconds` of processor time of that thread, or `seconds` per thread of all threads
/// together, the process exits with `exit_code`; atomic writes are then complete or undone. A second signal
/// of the same kind takes its default action. The destructor restores the former handlers. Only one guard may
/// live at a time, made and destroyed by the main thread.
class InterruptGuard {
 public:
  explicit InterruptGuard(int exit_code = 130, double seconds = 0.4);
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

 private:
  std::array<struct sigaction, 3> former_ = {};
  struct sigaction former_limit_ = {};
  std::function<bool()> stop_;
  StopScope scope_;
};

/// Returns true once a signal has arrived since the latest InterruptGuard was made. Any thread may call it,
/// at the cost of a load.
bool interrupted();

/// Sets the number of threads in the limit of all threads together (see InterruptGuard); without a call, it
/// is the machine's number of threads.
void set_interrupted_threads(int threads);

}  // namespace speclab

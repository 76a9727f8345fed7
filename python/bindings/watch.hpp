// Long calls release the GIL; Ctrl-C and progress still reach Python.
#pragma once

#include <nanobind/nanobind.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <thread>

#include "sim/control.hpp"

namespace speclab::python {

namespace nb = nanobind;

/// Watches work that the calling thread takes part in, without the GIL. Twenty times a second that thread
/// asks Python for signals and calls `progress(done, total)`, unless it is None. Made with the GIL.
class Watch {
 public:
  explicit Watch(nb::object progress) : progress_(std::move(progress)), caller_(std::this_thread::get_id()) {}

  /// For work of `total` steps; 0 when it is not known.
  Control control(std::uint64_t total);
  /// With the GIL, after the work: raises what a signal's handler or `progress` raised.
  void finish();

 private:
  bool stop();
  void ask();

  nb::object progress_;
  std::thread::id caller_;
  std::uint64_t total_ = 0;
  std::atomic<std::uint64_t> done_{0};
  std::atomic<bool> stopped_{false};
  std::chrono::steady_clock::time_point asked_ = std::chrono::steady_clock::now();
  std::optional<nb::python_error> error_;
};

}  // namespace speclab::python

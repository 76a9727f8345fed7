// Long calls release the GIL; Ctrl-C and progress still reach Python.
#pragma once

#include <nanobind/nanobind.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <thread>
#include <type_traits>
#include <utility>

#include "sim/control.hpp"

namespace speclab::python {

namespace nb = nanobind;

/// Watches work that runs without the GIL: twenty times a second the thread that constructed it asks Python
/// for signals, which Python handles only on its main thread, and calls `progress(done, total)`, unless it is
/// None. Construct it with the GIL.
class Watch {
 public:
  explicit Watch(nb::object progress = nb::none())
      : progress_(std::move(progress)), caller_(std::this_thread::get_id()) {}

  /// Returns the Control for work of `total` steps; 0 if the number is not known.
  Control control(std::uint64_t total);

  /// Runs `work()` without the GIL and returns its result; the work asks whether to end (core/stop.hpp). Call
  /// it with the GIL; it raises what a signal's handler, `progress` or the work raised. With more than one of
  /// `threads` (0: all cores) another thread works, and this one only asks: a thread that takes part in a
  /// loop would stop asking once it waits for the others.
  template <class Work>
  auto run(int threads, const Work& work) {
    if constexpr (std::is_void_v<decltype(work())>) {
      run_erased(threads, work);
    } else {
      std::optional<decltype(work())> result;
      run_erased(threads, [&] { result.emplace(work()); });
      return *std::move(result);
    }
  }
  /// Runs work in this thread, or work of steps so short that it does not wait for others.
  template <class Work>
  auto run(const Work& work) {
    return run(1, work);
  }

 private:
  void run_erased(int threads, const std::function<void()>& work);
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

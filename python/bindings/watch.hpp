// Runs long calls without the GIL; Ctrl-C and progress still reach Python.
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

/// Watches work that runs without the GIL. Twenty times a second the thread that constructed it lets Python
/// handle signals, which Python does only on its main thread, and calls `progress(done, total)`, unless it is
/// None. Construct it with the GIL.
class Watch {
 public:
  explicit Watch(nb::object progress = nb::none())
      : progress_(std::move(progress)), caller_(std::this_thread::get_id()) {}

  /// Returns the Control for work of `total` steps; 0: unknown.
  Control control(std::uint64_t total);

  /// Runs `work()` without the GIL and returns its result; the work checks whether to end (core/stop.hpp).
  /// Call it with the GIL. Raises what a signal's handler, `progress` or the work raised. If `threads` (0:
  /// all cores) is more than one, another thread works and this one only watches: in a parallel loop it would
  /// stop watching while it waits for the others.
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
  /// Runs work in this thread. Use it for work whose short steps never wait for other threads.
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

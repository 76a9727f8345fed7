// Shows on a terminal how far a long run has come.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

namespace speclab {

/// One line on standard error, redrawn in place at most ten times a second and cleared at the end. If
/// standard error is not a terminal, prints a line every half minute instead, for logs of long runs. Silent
/// if `quiet`. Several threads may advance it at once.
class Progress {
 public:
  /// `total` is the number of steps to come, in any unit. `plain_every` is the time between lines if standard
  /// error is no terminal.
  Progress(std::string title, std::uint64_t total, bool quiet = false,
           std::chrono::nanoseconds plain_every = std::chrono::seconds(30));
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Counts `steps` more as done.
  void advance(std::uint64_t steps = 1);

 private:
  std::string title_;
  std::uint64_t total_;
  bool shown_;
  bool in_place_;
  std::int64_t every_;  ///< interval between lines, in nanoseconds
  std::chrono::steady_clock::time_point start_;
  std::atomic<std::uint64_t> done_{0};
  std::atomic<std::int64_t> next_draw_;  ///< time of the next line, in nanoseconds after start_
  std::mutex drawing_;
};

/// Returns the line's text: "title  42%  1.2e6/s  12 s left". The time left assumes the mean rate so far;
/// before the first step it is left out.
std::string progress_line(std::string_view title, std::uint64_t done, std::uint64_t total, double seconds);

}  // namespace speclab

// How far a long run has come, for whoever watches a terminal.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

namespace speclab {

/// One line on standard error, redrawn in place at most ten times a second and cleared at the end. Where
/// standard error is not a terminal, a plain line each half minute instead, so that the log of a long run
/// says how far it has come and a short run says nothing. Silent on request. Threads may advance it together.
class Progress {
 public:
  /// `total` is the number of steps to come, in any unit.
  /// `plain_every`: between the lines outside a terminal.
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
  std::int64_t every_;  ///< nanoseconds between lines
  std::chrono::steady_clock::time_point start_;
  std::atomic<std::uint64_t> done_{0};
  std::atomic<std::int64_t> next_draw_;  ///< in nanoseconds after start_
  std::mutex drawing_;
};

/// The line's text: "title  42%  1.2e6/s  12 s left". The time left assumes the mean rate so far; before the
/// first step there is none.
std::string progress_line(std::string_view title, std::uint64_t done, std::uint64_t total, double seconds);

}  // namespace speclab

// For tests of progress: redirects standard error, and provides countable work.
#pragma once

#include <poll.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <string>
#include <thread>

#include "experiments/base/support/progress.hpp"

namespace speclab {

// Redirects standard error to `sink` while it lives.
class StderrTo {
 public:
  explicit StderrTo(int sink) : former_(::dup(STDERR_FILENO)) { ::dup2(sink, STDERR_FILENO); }
  ~StderrTo() {
    std::fflush(stderr);
    ::dup2(former_, STDERR_FILENO);
    ::close(former_);
  }
  StderrTo(const StderrTo&) = delete;
  StderrTo& operator=(const StderrTo&) = delete;

 private:
  int former_;
};

// Returns everything that can be read until nothing has arrived for a fifth of a second.
inline std::string available(int source) {
  std::string text;
  pollfd waiting = {source, POLLIN, 0};
  while (::poll(&waiting, 1, 200) > 0) {
    std::array<char, 4096> buffer = {};
    const ssize_t count = ::read(source, buffer.data(), buffer.size());
    if (count <= 0) break;
    text.append(buffer.data(), static_cast<std::size_t>(count));
  }
  return text;
}

// Lets four threads count for long enough to be drawn several times.
inline void count_for_a_while(bool quiet, std::chrono::nanoseconds plain_every = std::chrono::seconds(30)) {
  Progress progress("decoding", 4000, quiet, plain_every);
  const auto work = [&progress] {
    for (int i = 0; i < 100; ++i) {
      progress.advance(10);
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  };
  std::array<std::thread, 4> threads;
  for (auto& thread : threads) thread = std::thread(work);
  for (auto& thread : threads) thread.join();
}

}  // namespace speclab

#include "experiments/support/progress.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <string>
#include <thread>

namespace {

using speclab::Progress;
using speclab::progress_line;

// Standard error goes to `sink` while this lives.
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

// What there is to read, until nothing has come for a fifth of a second.
std::string available(int source) {
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

// Four threads count, long enough to be drawn several times.
void count_for_a_while(bool quiet, std::chrono::nanoseconds plain_every = std::chrono::seconds(30)) {
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

struct Terminal {
  int master = ::posix_openpt(O_RDWR | O_NOCTTY);
  int slave = -1;
  Terminal() {
    REQUIRE(master >= 0);
    REQUIRE(::grantpt(master) == 0);
    REQUIRE(::unlockpt(master) == 0);
    slave = ::open(::ptsname(master), O_RDWR | O_NOCTTY);
    REQUIRE(slave >= 0);
  }
  ~Terminal() {
    ::close(slave);
    ::close(master);
  }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;
};

}  // namespace

TEST_CASE("the line says how far, how fast and how long") {
  CHECK(progress_line("decoding", 0, 100, 0.0) == "decoding  0%");
  CHECK(progress_line("decoding", 42, 100, 0.0) == "decoding  42%");
  CHECK(progress_line("decoding", 12'000'000, 24'000'000, 10.0) == "decoding  50%  1.2e6/s  10 s left");
  CHECK(progress_line("x", 999, 1000, 1.0) == "x  99%  999/s  0 s left");
  CHECK(progress_line("x", 1000, 1000, 1.0) == "x  100%  1.0e3/s  0 s left");
  CHECK(progress_line("x", 9'999'999, 10'000'000'000, 1.0) == "x  0%  1.0e7/s  17 min left");
  CHECK(progress_line("x", 5, 36'005, 1.0) == "x  0%  5.0/s  2.0 h left");
  CHECK(progress_line("more than planned", 11, 10, 1.0) == "more than planned  100%  11/s  0 s left");
  CHECK(progress_line("nothing to do", 0, 0, 1.0) == "nothing to do  100%");
}

TEST_CASE("a pipe gets nothing of a short run, and plain lines of a long one") {
  std::array<int, 2> ends = {};
  REQUIRE(::pipe(ends.data()) == 0);
  {
    const StderrTo pipe(ends[1]);
    count_for_a_while(false);
    count_for_a_while(true, std::chrono::milliseconds(50));
  }
  CHECK(available(ends[0]).empty());
  const auto start = std::chrono::steady_clock::now();
  {
    const StderrTo pipe(ends[1]);
    count_for_a_while(false, std::chrono::milliseconds(100));
  }
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
  const std::string seen = available(ends[0]);
  const auto lines = std::count(seen.begin(), seen.end(), '\n');
  CHECK(lines >= 2);
  CHECK(static_cast<double>(lines) <= passed.count() / .1 + 1);
  CHECK(seen.starts_with("decoding  "));
  CHECK(seen.find('\x1b') == std::string::npos);
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST_CASE("a terminal sees one line, redrawn a few times and cleared, unless it asked for quiet") {
  const Terminal terminal;
  {
    const StderrTo screen(terminal.slave);
    count_for_a_while(true);
  }
  CHECK(available(terminal.master).empty());
  const auto start = std::chrono::steady_clock::now();
  {
    const StderrTo screen(terminal.slave);
    count_for_a_while(false);
  }
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
  const std::string seen = available(terminal.master);
  int drawings = 0;
  for (auto at = seen.find("decoding"); at != std::string::npos; at = seen.find("decoding", at + 1))
    ++drawings;
  CHECK(drawings >= 1);
  CHECK(drawings <= 10 * passed.count());
  CHECK(seen.find('\n') == std::string::npos);
  CHECK(seen.ends_with("\r\x1b[K"));
}

#include "experiments/base/support/progress.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <string>

#include "tests/experiments/base/support/stderr_to.hpp"

using namespace speclab;

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

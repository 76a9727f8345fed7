// Tests progress on a terminal. Skipped by name if the system has no pseudo-terminals (a container without
// devpts).
#include "experiments/base/support/progress.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <chrono>
#include <string>

#include "tests/experiments/base/support/stderr_to.hpp"

using namespace speclab;

namespace {

bool has_terminals() {
  const int master = ::posix_openpt(O_RDWR | O_NOCTTY);
  if (master < 0) return false;
  const bool opens = ::grantpt(master) == 0 && ::unlockpt(master) == 0 && ::ptsname(master) != nullptr;
  ::close(master);
  return opens;
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

TEST_CASE("a terminal sees one line, redrawn a few times and cleared, unless it asked for quiet" *
          doctest::skip(!has_terminals())) {
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

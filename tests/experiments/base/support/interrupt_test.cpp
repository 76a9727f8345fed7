#include "experiments/base/support/interrupt.hpp"

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <initializer_list>

namespace {

using speclab::interrupted;
using speclab::InterruptGuard;

void (*handler_of(int signal_number))(int) {
  struct sigaction action = {};
  ::sigaction(signal_number, nullptr, &action);
  return action.sa_handler;
}

// Returns the wait status of a child that sends itself `first`, then `second`, under a guard. The child exits
// with 0 if it survives both, and with 1 if it did not notice the first.
int status_after(int first, int second) {
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    const InterruptGuard guard;
    ::raise(first);
    if (!interrupted()) ::_exit(1);
    ::raise(second);
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return status;
}

}  // namespace

TEST_CASE("the first signal raises the flag and the former handlers come back") {
  const auto interrupt_before = handler_of(SIGINT);
  const auto terminate_before = handler_of(SIGTERM);
  for (const int signal_number : {SIGINT, SIGTERM, SIGHUP}) {
    const InterruptGuard guard;
    CHECK_FALSE(interrupted());
    ::raise(signal_number);
    CHECK(interrupted());
  }
  CHECK((handler_of(SIGINT) == interrupt_before));
  CHECK((handler_of(SIGTERM) == terminate_before));
}

TEST_CASE("a hangup that nohup ignores stays ignored") {
  const auto before = ::signal(SIGHUP, SIG_IGN);
  {
    const InterruptGuard guard;
    ::raise(SIGHUP);
    CHECK_FALSE(interrupted());
  }
  CHECK((::signal(SIGHUP, before) == SIG_IGN));
}

TEST_CASE("the same signal a second time ends the program") {
  for (const int signal_number : {SIGINT, SIGTERM}) {
    const int status = status_after(signal_number, signal_number);
    REQUIRE(WIFSIGNALED(status));
    CHECK(WTERMSIG(status) == signal_number);
  }
}

TEST_CASE("each signal is asked once") {
  const int status = status_after(SIGINT, SIGTERM);
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}

TEST_CASE("work that does not end is ended, by processor time, however many threads could have worked") {
  for (const int threads : {1, 64}) {
    CAPTURE(threads);
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      ::close(STDERR_FILENO);
      const InterruptGuard guard(77, 0.05);
      speclab::set_interrupted_threads(threads);
      ::raise(SIGINT);
      ::usleep(200'000);  // takes no processor time
      if (!interrupted()) ::_exit(1);
      for (std::atomic<std::uint64_t> i{0};; ++i) {
      }
    }
    int status = 0;
    rusage usage = {};
    ::wait4(child, &status, 0, &usage);
    REQUIRE(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 77);
    CHECK(usage.ru_utime.tv_sec == 0);
  }
}

TEST_CASE("work of the guard's thread asks for the signal") {
  const InterruptGuard guard;
  CHECK_NOTHROW(speclab::end_if_stopped());
  ::raise(SIGTERM);
  CHECK_THROWS_AS(speclab::end_if_stopped(), speclab::Stopped);
  {
    const speclab::StopScope undisturbed(nullptr);
    CHECK_NOTHROW(speclab::end_if_stopped());
  }
  CHECK(speclab::stop_asked());
}

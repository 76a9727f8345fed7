#include "experiments/base/support/interrupt.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <optional>
#include <string_view>
#include <thread>

namespace speclab {
namespace {

constexpr std::array<int, 3> asking = {SIGINT, SIGTERM, SIGHUP};
std::atomic<bool> flag{false};
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler may not take a lock");

/// The timers of the live guard, set before its handlers are installed. They raise SIGPROF and measure
/// processor time, which does not run while other processes have the processor. The guard's thread has its
/// own timer, so that work on it alone does not use up the limit of all threads.
std::optional<timer_t> timer_of_process;
std::optional<timer_t> timer_of_thread;
int exit_code_at_limit = 0;
std::atomic<std::int64_t> limit_nanoseconds{0};  ///< limit of one thread, in nanoseconds
std::atomic<int> threads_at_work{1};
static_assert(std::atomic<std::int64_t>::is_always_lock_free, "a signal handler may not take a lock");

void start(const std::optional<timer_t>& timer, std::int64_t nanoseconds) {
  constexpr std::int64_t second = 1'000'000'000;
  if (!timer) return;
  itimerspec at = {};
  at.it_value.tv_sec = static_cast<time_t>(nanoseconds / second);
  at.it_value.tv_nsec = static_cast<long>(nanoseconds % second);
  ::timer_settime(*timer, 0, &at, nullptr);
}

void raise_flag(int) {
  flag.store(true, std::memory_order_relaxed);
  const std::int64_t limit = limit_nanoseconds.load();
  start(timer_of_thread, limit);
  start(timer_of_process, limit * threads_at_work.load());
}

void end_at_limit(int) {
  constexpr std::string_view sentence =
      "interrupted; the same command continues from the finished work, or starts again\n";
  [[maybe_unused]] const ::ssize_t written = ::write(STDERR_FILENO, sentence.data(), sentence.size());
  ::_exit(exit_code_at_limit);
}

std::optional<timer_t> made_timer(clockid_t clock) {
  sigevent event = {};
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = SIGPROF;
  timer_t id = {};
  return ::timer_create(clock, &event, &id) == 0 ? std::optional(id) : std::nullopt;
}

}  // namespace

InterruptGuard::InterruptGuard(int exit_code, double seconds) : stop_(interrupted), scope_(&stop_) {
  flag.store(false, std::memory_order_relaxed);
  exit_code_at_limit = exit_code;
  limit_nanoseconds = std::llround(seconds * 1e9);
  set_interrupted_threads(static_cast<int>(std::thread::hardware_concurrency()));
  struct sigaction at_limit = {};
  at_limit.sa_handler = end_at_limit;
  sigaction(SIGPROF, &at_limit, &former_limit_);
  timer_of_process = made_timer(CLOCK_PROCESS_CPUTIME_ID);
  timer_of_thread = made_timer(CLOCK_THREAD_CPUTIME_ID);
  // SA_RESETHAND gives the second signal its default action; SA_RESTART continues interrupted reads and
  // writes. Reads that can wait forever check the flag themselves (sim/text/input_stream.hpp).
  struct sigaction action = {};
  action.sa_handler = raise_flag;
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
  for (std::size_t i = 0; i < asking.size(); ++i) sigaction(asking[i], &action, &former_[i]);
  if (former_[2].sa_handler == SIG_IGN) sigaction(SIGHUP, &former_[2], nullptr);  // by nohup
}

InterruptGuard::~InterruptGuard() {
  for (std::size_t i = 0; i < asking.size(); ++i) sigaction(asking[i], &former_[i], nullptr);
  for (std::optional<timer_t>* const timer : {&timer_of_process, &timer_of_thread})
    if (const auto id = std::exchange(*timer, std::nullopt)) ::timer_delete(*id);
  sigaction(SIGPROF, &former_limit_, nullptr);
}

bool interrupted() { return flag.load(std::memory_order_relaxed); }

void set_interrupted_threads(int threads) { threads_at_work = std::max(threads, 1); }

}  // namespace speclab

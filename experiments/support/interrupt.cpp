#include "experiments/support/interrupt.hpp"

#include <atomic>

namespace speclab {
namespace {

std::atomic<bool> flag{false};
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler may not take a lock");

void raise_flag(int) { flag.store(true, std::memory_order_relaxed); }

}  // namespace

InterruptGuard::InterruptGuard() {
  flag.store(false, std::memory_order_relaxed);
  struct sigaction action = {};
  action.sa_handler = raise_flag;
  sigemptyset(&action.sa_mask);
  // SA_RESETHAND gives the second signal its default action; SA_RESTART keeps reads and writes whole.
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
  sigaction(SIGINT, &action, &former_interrupt_);
  sigaction(SIGTERM, &action, &former_terminate_);
}

InterruptGuard::~InterruptGuard() {
  sigaction(SIGINT, &former_interrupt_, nullptr);
  sigaction(SIGTERM, &former_terminate_, nullptr);
}

bool interrupted() { return flag.load(std::memory_order_relaxed); }

}  // namespace speclab

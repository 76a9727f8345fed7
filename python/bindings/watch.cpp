#include "python/bindings/watch.hpp"

namespace speclab::python {

namespace {

constexpr auto between_questions = std::chrono::milliseconds(50);

}  // namespace

Control Watch::control(std::uint64_t total) {
  total_ = total;
  return {.stop = [this] { return stop(); },
          .progress = [this](std::uint64_t steps) { done_.fetch_add(steps, std::memory_order_relaxed); }};
}

bool Watch::stop() {
  if (stopped_.load(std::memory_order_relaxed)) return true;
  if (std::this_thread::get_id() == caller_) ask();
  return stopped_.load(std::memory_order_relaxed);
}

void Watch::ask() {
  const auto now = std::chrono::steady_clock::now();
  if (now - asked_ < between_questions) return;
  asked_ = now;
  const nb::gil_scoped_acquire gil;
  try {
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    if (!progress_.is_none()) progress_(done_.load(std::memory_order_relaxed), total_);
  } catch (nb::python_error& error) {
    error_.emplace(std::move(error));
    stopped_ = true;
  }
}

void Watch::finish() {
  if (error_) throw nb::python_error(std::move(*error_));
  if (!progress_.is_none() && total_ > 0) progress_(total_, total_);
}

}  // namespace speclab::python

#include "python/bindings/watch.hpp"

#include <condition_variable>
#include <exception>
#include <mutex>

#include "core/stop.hpp"

namespace speclab::python {

namespace {

constexpr auto between_questions = std::chrono::milliseconds(50);

/// Python's state of a thread that calls Python functions again and again: made once, not at each call.
class ThreadState {
 public:
  ThreadState() : gil_(PyGILState_Ensure()), state_(PyEval_SaveThread()) {}
  ~ThreadState() {
    PyEval_RestoreThread(state_);
    PyGILState_Release(gil_);
  }
  ThreadState(const ThreadState&) = delete;
  ThreadState& operator=(const ThreadState&) = delete;

 private:
  PyGILState_STATE gil_;
  PyThreadState* state_;
};

}  // namespace

Control Watch::control(std::uint64_t total) {
  total_ = total;
  return {.stop = [this] { return stop(); },
          .progress = [this](std::uint64_t steps) { done_.fetch_add(steps, std::memory_order_relaxed); }};
}

void Watch::run_erased(int threads, const std::function<void()>& work) {
  const std::function<bool()> question = [this] { return stop(); };
  std::exception_ptr failure;
  const auto work_asking = [&] {
    const StopScope scope(&question);
    try {
      work();
    } catch (...) {
      failure = std::current_exception();
    }
  };
  {
    const nb::gil_scoped_release released;
    if (threads == 1 || std::thread::hardware_concurrency() == 1) {
      work_asking();
    } else {
      std::mutex mutex;
      std::condition_variable ended;
      bool done = false;
      std::thread worker([&] {
        {
          const ThreadState state;
          work_asking();
        }
        const std::scoped_lock lock(mutex);
        done = true;
        ended.notify_one();
      });
      for (std::unique_lock lock(mutex); !ended.wait_for(lock, between_questions, [&] { return done; });) {
        lock.unlock();
        ask();
        lock.lock();
      }
      worker.join();
    }
  }
  if (error_) throw nb::python_error(std::move(*error_));
  if (failure) std::rethrow_exception(failure);
  if (!progress_.is_none() && total_ > 0) progress_(total_, total_);
}

bool Watch::stop() {
  if (stopped_.load(std::memory_order_relaxed)) return true;
  if (std::this_thread::get_id() == caller_) ask();
  return stopped_.load(std::memory_order_relaxed);
}

void Watch::ask() {
  const auto now = std::chrono::steady_clock::now();
  if (stopped_.load(std::memory_order_relaxed) || now - asked_ < between_questions) return;
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

}  // namespace speclab::python

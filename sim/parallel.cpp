#include "sim/parallel.hpp"

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>

#include "core/stop.hpp"

namespace speclab {

void run_isolated(void (*call)(const void* body), const void* body) {
  tbb::this_task_arena::isolate([=] { call(body); });
}

int concurrency() { return tbb::this_task_arena::max_concurrency(); }

void run_indices(std::size_t count, bool (*call)(const void* body, std::size_t index), const void* body) {
  tbb::task_group_context context;
  const std::function<bool()>* const stop = stop_of_this_thread;
  // The loop checks at every index whether to stop: oneTBB checks only between ranges, and one range can be
  // most of a long loop.
  tbb::parallel_for(
      tbb::blocked_range<std::size_t>(0, count),
      [&](const tbb::blocked_range<std::size_t>& range) {
        const StopScope scope(stop);
        for (std::size_t i = range.begin(); i != range.end() && !context.is_group_execution_cancelled();
             ++i) {
          if (!call(body, i)) context.cancel_group_execution();
        }
      },
      context);
}

}  // namespace speclab

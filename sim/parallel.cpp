#include "sim/parallel.hpp"

#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>

namespace speclab {

void run_isolated(void (*call)(const void* body), const void* body) {
  tbb::this_task_arena::isolate([=] { call(body); });
}

int concurrency() { return tbb::this_task_arena::max_concurrency(); }

void run_indices(std::size_t count, bool (*call)(const void* body, std::size_t index), const void* body) {
  tbb::task_group_context context;
  tbb::parallel_for(
      std::size_t{0}, count,
      [&](std::size_t index) {
        if (!call(body, index)) context.cancel_group_execution();
      },
      context);
}

}  // namespace speclab

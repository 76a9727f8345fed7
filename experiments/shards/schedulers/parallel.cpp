// Shards as a line for GNU parallel, to be printed.
#include <fmt/format.h>

#include "experiments/shards/scheduler.hpp"
#include "experiments/support/printable.hpp"

namespace speclab {

namespace {

std::string print_parallel(const Submission& submission) {
  Submission mine = submission;
  if (mine.threads == 0) mine.threads = 1;
  std::string line = "parallel --retries 3";
  if (mine.at_once > 0) line += fmt::format(" --jobs {}", mine.at_once);
  // Once for parallel's own shell, once for the one that it starts.
  return fmt::format("{} {} ::: $(seq {})\n", line, shell_word(shell_line(shard_words(mine, "{}"))),
                     mine.shards);
}

}  // namespace

SchedulerEntry parallel_scheduler() {
  return {"parallel", "a line for GNU parallel, to be printed", print_parallel, nullptr};
}

}  // namespace speclab

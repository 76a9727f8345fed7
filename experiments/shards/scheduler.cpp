#include "experiments/shards/scheduler.hpp"

#include <fmt/format.h>

#include "experiments/base/format/config_error.hpp"
#include "experiments/base/format/named_entry.hpp"
#include "experiments/base/support/shell_word.hpp"

// clang-format off
#define SPECLAB_SCHEDULERS(ENTRY) \
  ENTRY(local)                    \
  ENTRY(slurm)
// clang-format on

namespace speclab {

#define SPECLAB_DECLARE_SCHEDULER(name) SchedulerEntry name##_scheduler();
SPECLAB_SCHEDULERS(SPECLAB_DECLARE_SCHEDULER)

const std::vector<SchedulerEntry>& schedulers() {
#define SPECLAB_LIST_SCHEDULER(name) name##_scheduler(),
  static const std::vector<SchedulerEntry> all{SPECLAB_SCHEDULERS(SPECLAB_LIST_SCHEDULER)};
  return all;
}

const SchedulerEntry& scheduler_named(const std::string& name) {
  return named_entry(schedulers(), name, [&](const std::string& near) {
    return UsageError("--scheduler {}: unknown{}", name, near);
  });
}

std::string shard_line(const Submission& submission, const std::string& shard) {
  std::string line =
      fmt::format("{} --quiet --shard {}/{}", shell_line(submission.command), shard, submission.shards);
  if (submission.threads > 0) line += fmt::format(" --threads {}", submission.threads);
  return line;
}

}  // namespace speclab

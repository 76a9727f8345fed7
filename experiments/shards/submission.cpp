// Submits and resubmits shards with any scheduler.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <numeric>

#include "experiments/base/support/interrupt.hpp"
#include "experiments/base/support/machine.hpp"
#include "experiments/base/support/printable.hpp"
#include "experiments/shards/scheduler.hpp"
#include "experiments/shards/shard_files.hpp"

namespace speclab {

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

std::vector<int> incomplete_shards(const std::filesystem::path& folder, int shards) {
  std::vector<int> incomplete(static_cast<std::size_t>(shards));
  std::iota(incomplete.begin(), incomplete.end(), 1);
  if (!any_shards(folder)) return incomplete;
  incomplete.clear();
  const ShardedRun run = read_shards(folder);
  const CellGrid grid(*run.head.config);
  for (const ShardState& state : shard_states(folder, run, plan_of(run.head, grid))) {
    if (!state.complete) incomplete.push_back(state.shard);
  }
  return incomplete;
}

}  // namespace

ShardEstimate estimate_shard(const Config& config, int shards, double seconds) {
  ShardEstimate estimate;
  const Clock::time_point start = Clock::now();
  Clock::time_point prepared = start;
  std::uint64_t total = 0;
  std::atomic<std::uint64_t> done{0};
  const auto control_for = [&](std::uint64_t steps) {
    total = steps;
    prepared = Clock::now();
    return Control{.stop = [&] { return interrupted() || seconds_since(prepared) > seconds; },
                   .progress = [&](std::uint64_t more) { done += more; }};
  };
  const auto first_shard = [&](const RunIdentity& identity) {
    Resumption resumption;
    resumption.describes = false;
    resumption.turns = ShardPlan(*identity.grid, shards, Backend::cpu).turns(1);
    return resumption;
  };
  run_config(config, control_for, first_shard);
  const double worked = seconds_since(prepared);
  estimate.prepare_seconds = std::chrono::duration<double>(prepared - start).count();
  if (total == 0) estimate.work_seconds = worked;
  if (done > 0)
    estimate.work_seconds =
        worked * static_cast<double>(std::max<std::uint64_t>(total, done)) / static_cast<double>(done);
  estimate.bytes = static_cast<double>(peak_memory());
  return estimate;
}

bool submit_shards(const Submission& submission, const SchedulerEntry& scheduler, int retries) {
  std::filesystem::create_directories(shards_folder(submission.folder));
  std::vector<int> waiting = incomplete_shards(submission.folder, submission.shards);
  for (int attempt = 0; !waiting.empty() && attempt <= retries; ++attempt) {
    if (attempt > 0)
      fmt::print(stderr, "{} of {} shards are not complete; submitted again\n", waiting.size(),
                 submission.shards);
    scheduler.run(submission, waiting);
    if (interrupted()) return false;
    waiting = incomplete_shards(submission.folder, submission.shards);
  }
  if (waiting.empty()) return true;
  for (const int shard : waiting) {
    const std::string error = shard_error(submission.folder, {shard, submission.shards});
    fmt::print(stderr, "shard {} failed: {}\n", shard,
               error.empty() ? "its process was killed, or could not be started; see the logs in " +
                                   printable(shards_folder(submission.folder).string())
                             : error);
  }
  return false;
}

}  // namespace speclab

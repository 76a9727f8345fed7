#include "experiments/bench/limit_jobs.hpp"

#include <benchmark/benchmark.h>

#include <algorithm>

#include "sim/fast/philox_blocks.hpp"

namespace speclab {

namespace {

// The order of the jobs: these, then a pair of jobs a size.
enum FixedJob : std::size_t { vector_blocks, scalar_blocks, in_order, fixed_jobs };

double ns_each(const Timing& timing, std::uint64_t count) {
  return 1e9 * median(timing.processor_seconds) / static_cast<double>(count);
}

std::vector<std::size_t> sorted(std::vector<std::size_t> sizes) {
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  return sizes;
}

}  // namespace

LimitJobs::LimitJobs(const std::vector<std::size_t>& sizes, bool brief)
    : sizes_(sorted(sizes)),
      memory_(sizes_),
      blocks_(brief ? 1U << 18U : 1U << 24U),
      chased_(brief ? 1U << 15U : 1U << 20U),
      flown_(brief ? 1U << 17U : 1U << 23U) {}

std::vector<TimedJob> LimitJobs::jobs() {
  std::vector<TimedJob> all{[this] { benchmark::DoNotOptimize(make_blocks(blocks_)); },
                            [this] { benchmark::DoNotOptimize(make_scalar_blocks(blocks_)); },
                            [this] { benchmark::DoNotOptimize(memory_.read_in_order(memory_.bytes())); }};
  for (std::size_t size = 0; size < sizes_.size(); ++size) {
    all.emplace_back([this, size] { benchmark::DoNotOptimize(memory_.chase(size, chased_)); });
    all.emplace_back([this, size] { benchmark::DoNotOptimize(memory_.read_in_flight(size, flown_)); });
  }
  return all;
}

double LimitJobs::block_ns(const std::vector<Timing>& timings) const {
  return ns_each(timings[vector_blocks], blocks_);
}

double LimitJobs::in_flight_ns(const std::vector<Timing>& timings, std::size_t size) const {
  const auto place = std::lower_bound(sizes_.begin(), sizes_.end(), size) - sizes_.begin();
  return ns_each(timings[fixed_jobs + 2 * static_cast<std::size_t>(place) + 1], flown_);
}

Json LimitJobs::json(const std::vector<Timing>& timings) const {
  Json limits{{"instruction_set", instruction_set()},
              {"block_ns", block_ns(timings)},
              {"scalar_block_ns", ns_each(timings[scalar_blocks], blocks_)},
              {"reads", Json::array()}};
  if (!sizes_.empty()) {
    limits["sequential_bytes"] = memory_.bytes();
    limits["sequential_bytes_per_second"] = 1e9 / ns_each(timings[in_order], memory_.bytes());
  }
  for (std::size_t size = 0; size < sizes_.size(); ++size) {
    limits["reads"].push_back({{"bytes", sizes_[size]},
                               {"latency_ns", ns_each(timings[fixed_jobs + 2 * size], chased_)},
                               {"in_flight_ns", in_flight_ns(timings, sizes_[size])}});
  }
  return limits;
}

}  // namespace speclab

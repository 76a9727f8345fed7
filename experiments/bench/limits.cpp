#include "experiments/bench/limits.hpp"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cassert>
#include <numeric>
#include <utility>

#include "core/random/philox.hpp"
#include "sim/fast/philox_blocks.hpp"

namespace speclab {

namespace {

/// Returns a uniformly random permutation among those with a single cycle (Sattolo's algorithm).
std::vector<std::uint32_t> random_cycle(std::uint32_t length, std::uint64_t seed) {
  std::vector<std::uint32_t> next(length);
  std::iota(next.begin(), next.end(), 0U);
  Philox stream(seed, Site{0, 0, Draw{Use::world, 0}});
  for (std::uint32_t i = length; i-- > 1;) {
    const std::uint64_t below = ((stream() >> 32U) * i) >> 32U;
    std::swap(next[i], next[below]);
  }
  return next;
}

/// Computes `blocks` Philox blocks by philox_blocks and returns their sum. `blocks` is rounded up to a
/// multiple of the number that fits the first-level cache.
std::uint32_t make_blocks(std::uint64_t blocks) {
  constexpr std::size_t width = 32 * philox_batch;  // 8 KiB of counters and as many of words
  alignas(64) std::array<std::uint32_t, 4 * width> counters{};
  alignas(64) std::array<std::uint32_t, 4 * width> words{};
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < width; ++i) counters[width + i] = static_cast<std::uint32_t>(i);
  for (std::uint64_t made = 0; made < blocks; made += width) {
    ++counters[0];
    philox_blocks(1, counters.data(), words.data(), width);
    sum += words[0];
  }
  return sum;
}

/// Computes the same by core/random/philox.hpp, one block at a time, each at its own site.
std::uint64_t make_scalar_blocks(std::uint64_t blocks) {
  std::uint64_t sum = 0;
  for (std::uint64_t i = 0; i < blocks; ++i) {
    Philox stream(1, Site{0, static_cast<std::uint32_t>(i), Draw{Use::draft, 0}});
    sum += stream();
    sum += stream();
  }
  return sum;
}

// The order of the jobs: these first, then two jobs for each size.
enum FixedJob : std::size_t { vector_blocks, scalar_blocks, in_order, fixed_jobs };

double ns_each(const Timing& timing, std::uint64_t count) {
  return 1e9 * median(timing.processor_seconds) / static_cast<double>(count);
}

}  // namespace

ReadMemory::ReadMemory(const std::vector<std::size_t>& sizes) : positions_(sizes.size()) {
  assert(sizes.size() <= max_sizes);
  if (sizes.empty()) return;
  lines_.resize(*std::max_element(sizes.begin(), sizes.end()) / sizeof(Line));
  for (std::size_t size = 0; size < sizes.size(); ++size) {
    assert(sizes[size] >= least_size);
    const auto count = static_cast<std::uint32_t>(sizes[size] / sizeof(Line));
    const std::vector<std::uint32_t> next = random_cycle(count, size);
    for (std::uint32_t line = 0; line < count; ++line) lines_[line].next[size] = next[line];
    for (std::size_t chain = 0; chain < in_flight; ++chain) {
      positions_[size][chain] = static_cast<std::uint32_t>(chain * count / in_flight);
    }
  }
}

std::uint32_t ReadMemory::chase(std::size_t size, std::uint64_t reads) {
  std::uint32_t& position = positions_[size][0];
  const Line* const lines = lines_.data();
  std::uint32_t at = position;
  for (std::uint64_t i = 0; i < reads; ++i) at = lines[at].next[size];
  return position = at;
}

std::uint32_t ReadMemory::read_in_flight(std::size_t size, std::uint64_t reads) {
  std::array<std::uint32_t, in_flight> at = positions_[size];
  const Line* const lines = lines_.data();
  for (std::uint64_t turn = 0; turn < reads / in_flight; ++turn) {
    for (std::uint32_t& position : at) {
      position = lines[position].next[size];
      __builtin_prefetch(&lines[position]);
    }
  }
  positions_[size] = at;
  return std::accumulate(at.begin(), at.end(), 0U);
}

std::uint64_t ReadMemory::read_in_order() const {
  std::array<std::uint64_t, max_sizes> sums{};
  for (const Line& line : lines_) {
    for (std::size_t word = 0; word < max_sizes; ++word) sums[word] += line.next[word];
  }
  return std::accumulate(sums.begin(), sums.end(), std::uint64_t{0});
}

LimitJobs::LimitJobs(const std::set<std::size_t>& sizes, bool brief)
    : sizes_(sizes.begin(), sizes.end()),
      memory_(sizes_),
      blocks_(brief ? 1U << 18U : 1U << 24U),
      chased_(brief ? 1U << 15U : 1U << 20U),
      flown_(brief ? 1U << 17U : 1U << 23U) {}

std::vector<TimedJob> LimitJobs::jobs() {
  std::vector<TimedJob> all{[this] { benchmark::DoNotOptimize(make_blocks(blocks_)); },
                            [this] { benchmark::DoNotOptimize(make_scalar_blocks(blocks_)); },
                            [this] { benchmark::DoNotOptimize(memory_.read_in_order()); }};
  for (std::size_t size = 0; size < sizes_.size(); ++size) {
    all.emplace_back([this, size] { benchmark::DoNotOptimize(memory_.chase(size, chased_)); });
    all.emplace_back([this, size] { benchmark::DoNotOptimize(memory_.read_in_flight(size, flown_)); });
  }
  return all;
}

MachineLimits LimitJobs::limits(const std::vector<Timing>& timings) const {
  MachineLimits limits;
  limits.instruction_set = instruction_set();
  limits.block_ns = ns_each(timings[vector_blocks], blocks_);
  limits.scalar_block_ns = ns_each(timings[scalar_blocks], blocks_);
  if (!sizes_.empty()) {
    limits.sequential_bytes = memory_.bytes();
    limits.sequential_bytes_per_second = 1e9 / ns_each(timings[in_order], memory_.bytes());
  }
  for (std::size_t size = 0; size < sizes_.size(); ++size) {
    limits.reads.push_back({sizes_[size], ns_each(timings[fixed_jobs + 2 * size], chased_),
                            ns_each(timings[fixed_jobs + 2 * size + 1], flown_)});
  }
  return limits;
}

}  // namespace speclab

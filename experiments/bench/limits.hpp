// How fast this machine makes random numbers and reads memory: what any decoder has to live with. Measured as
// jobs among the workloads that are compared with them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

#include "experiments/bench/interleaved_runs.hpp"
#include "experiments/bench/sim_result.hpp"
#include "sim/fast/huge_pages.hpp"

namespace speclab {

/// Memory to read from, stored as the models' tables are. One block of memory serves several sizes: a size is
/// its first so many bytes, and has a chain of its own through all their cache lines, a random permutation
/// that is a single cycle.
class ReadMemory {
 public:
  /// Up to max_sizes sizes in bytes, each at least least_size; they are rounded down to cache lines.
  static constexpr std::size_t max_sizes = 16;
  static constexpr std::size_t least_size = 4096;
  explicit ReadMemory(const std::vector<std::size_t>& sizes);

  /// Pointer chasing: each read names the line of the next, so that they take a full latency each.
  std::uint32_t chase(std::size_t size, std::uint64_t reads);

  /// Reads independent of one another, `in_flight` at a time: each of so many chains asks for its next line
  /// (prefetch), and reads it when the others have asked. `reads` is rounded down to a multiple.
  static constexpr std::size_t in_flight = 32;
  std::uint32_t read_in_flight(std::size_t size, std::uint64_t reads);

  /// Reads all of it in order.
  std::uint64_t read_in_order() const;

  std::size_t bytes() const { return lines_.size() * sizeof(Line); }

 private:
  /// By size: the number of the line that follows this one in that size's chain.
  struct alignas(64) Line {
    std::array<std::uint32_t, max_sizes> next;
  };

  BigTable<Line> lines_;
  /// Where the chains are. Kept between calls, so that short calls do not read the same lines again.
  std::vector<std::array<std::uint32_t, in_flight>> positions_;
};

class LimitJobs {
 public:
  /// Random reads are measured on memory of each of these sizes in bytes, at most ReadMemory::max_sizes.
  /// `brief`: times too short to mean much.
  LimitJobs(const std::set<std::size_t>& sizes, bool brief);

  /// They use this object, which does not move before they have run.
  std::vector<TimedJob> jobs();

  /// From timings that begin with those of `jobs`.
  MachineLimits limits(const std::vector<Timing>& timings) const;

 private:
  std::vector<std::size_t> sizes_;
  ReadMemory memory_;
  std::uint64_t blocks_;
  std::uint64_t chased_;
  std::uint64_t flown_;
};

}  // namespace speclab

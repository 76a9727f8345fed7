// Measures how fast this machine makes random numbers and reads memory, which limits any decoder. The
// measurements are jobs among the workloads with which they are compared.
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

/// Memory to read from, stored as the models' tables are. One block of memory serves several sizes: each size
/// is a prefix of the block with its own chain through all its cache lines, a random permutation that is a
/// single cycle.
class ReadMemory {
 public:
  /// Takes up to max_sizes sizes in bytes, each at least least_size; they are rounded down to cache lines.
  static constexpr std::size_t max_sizes = 16;
  static constexpr std::size_t least_size = 4096;
  explicit ReadMemory(const std::vector<std::size_t>& sizes);

  /// Chases pointers: each line that is read names the next, so that each read takes a full latency.
  std::uint32_t chase(std::size_t size, std::uint64_t reads);

  /// Makes independent reads, `in_flight` at a time: each of that many chains prefetches its next line and
  /// reads it after the others have prefetched theirs. `reads` is rounded down to a multiple of `in_flight`.
  static constexpr std::size_t in_flight = 32;
  std::uint32_t read_in_flight(std::size_t size, std::uint64_t reads);

  /// Reads the whole block in order.
  std::uint64_t read_in_order() const;

  std::size_t bytes() const { return lines_.size() * sizeof(Line); }

 private:
  /// For each size, the number of the line that follows this one in that size's chain.
  struct alignas(64) Line {
    std::array<std::uint32_t, max_sizes> next;
  };

  BigTable<Line> lines_;
  /// The current lines of the chains. They are kept between calls, so that short calls do not read the same
  /// lines again.
  std::vector<std::array<std::uint32_t, in_flight>> positions_;
};

class LimitJobs {
 public:
  /// Measures random reads on memory of each of these sizes in bytes, at most ReadMemory::max_sizes. `brief`
  /// makes times too short to mean much.
  LimitJobs(const std::set<std::size_t>& sizes, bool brief);

  /// Returns the jobs. They use this object, which must not move before they have run.
  std::vector<TimedJob> jobs();

  /// Computes the limits from timings that begin with those of `jobs`.
  MachineLimits limits(const std::vector<Timing>& timings) const;

 private:
  std::vector<std::size_t> sizes_;
  ReadMemory memory_;
  std::uint64_t blocks_;
  std::uint64_t chased_;
  std::uint64_t flown_;
};

}  // namespace speclab

// How fast this machine makes random numbers and reads memory: what any decoder has to live with.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/fast/huge_pages.hpp"

namespace speclab {

/// Sums `blocks` Philox blocks (rounded up to what fits the first cache at once) by philox_blocks.
std::uint32_t make_blocks(std::uint64_t blocks);

/// The same by core/random/philox.hpp, one at a time, each at a site of its own.
std::uint64_t make_scalar_blocks(std::uint64_t blocks);

/// Memory to read from, stored as the models' tables are. One block of memory serves several sizes: a size is
/// its first so many bytes, and has a chain of its own through all their cache lines, a random permutation
/// that is a single cycle.
class ReadMemory {
 public:
  /// Up to most_sizes sizes in bytes, each at least least_size; they are rounded down to cache lines.
  static constexpr std::size_t most_sizes = 16;
  static constexpr std::size_t least_size = 4096;
  explicit ReadMemory(const std::vector<std::size_t>& sizes);

  /// Pointer chasing: each read names the line of the next, so that they take a full latency each.
  std::uint32_t chase(std::size_t size, std::uint64_t reads);

  /// Reads independent of one another, `in_flight` at a time: each of so many chains asks for its next line
  /// (prefetch), and reads it when the others have asked. `reads` is rounded down to a multiple.
  static constexpr std::size_t in_flight = 32;
  std::uint32_t read_in_flight(std::size_t size, std::uint64_t reads);

  /// Reads the first `bytes` bytes (at most `bytes()`) in order.
  std::uint64_t read_in_order(std::size_t bytes) const;

  std::size_t bytes() const { return lines_.size() * sizeof(Line); }

 private:
  /// By size: the number of the line that follows this one in that size's chain.
  struct alignas(64) Line {
    std::array<std::uint32_t, most_sizes> next;
  };

  BigTable<Line> lines_;
  /// Where the chains stand. Kept between calls, so that short calls do not read the same lines again.
  std::vector<std::array<std::uint32_t, in_flight>> places_;
};

}  // namespace speclab

// The machine's limits as jobs, to be measured among the workloads that are compared with them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "experiments/bench/interleaved_runs.hpp"
#include "experiments/bench/limits.hpp"
#include "experiments/format/shape.hpp"

namespace speclab {

class LimitJobs {
 public:
  /// Random reads are measured on memory of each of these sizes in bytes, at most ReadMemory::most_sizes.
  /// `brief`: times too short to mean much.
  LimitJobs(const std::vector<std::size_t>& sizes, bool brief);

  /// They use this object, which does not move before they have run.
  std::vector<TimedJob> jobs();

  /// The others take the timings of `jobs`, in its order. Nanoseconds a Philox block, of philox_blocks:
  double block_ns(const std::vector<Timing>& timings) const;
  /// Nanoseconds a random read with ReadMemory::in_flight of them in flight, on memory of one of the sizes.
  double in_flight_ns(const std::vector<Timing>& timings, std::size_t size) const;
  /// "instruction_set", "block_ns", "scalar_block_ns", "sequential_bytes_per_second", "sequential_bytes", and
  /// "reads": by size "bytes", "latency_ns", "in_flight_ns".
  Json json(const std::vector<Timing>& timings) const;

 private:
  std::vector<std::size_t> sizes_;
  ReadMemory memory_;
  std::uint64_t blocks_;
  std::uint64_t chased_;
  std::uint64_t flown_;
};

}  // namespace speclab

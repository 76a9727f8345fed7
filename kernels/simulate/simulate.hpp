// Simulates rounds on a GPU: the runs, and the counts they return.
#pragma once

#include <cstdint>
#include <functional>
#include <variant>
#include <vector>

#include "core/fast/prepared_pair_step.hpp"
#include "core/round/batches.hpp"
#include "core/round/round_counts.hpp"
#include "core/rules/lenience.hpp"
#include "core/rules/token.hpp"
#include "kernels/simt/emulator.hpp"

namespace speclab {

/// Bounds on the work of one launch, so that progress is seen and an interrupt takes effect within about a
/// second.
struct LaunchLimits {
  std::uint64_t rounds = std::uint64_t{1} << 32U;  ///< rounds of independent acceptances
  /// Steps of all sequences; their sums of overlaps fit 64 bits.
  std::uint64_t steps = std::uint64_t{1} << 31U;
  /// Steps of one sequence; each takes about a microsecond.
  std::uint64_t steps_in_a_row = 1U << 19U;
  std::uint64_t sequences = 1U << 22U;
};

/// A run of `trials` sequences of `length` rounds with `gamma` drafted tokens, counted in `batches` batches
/// (core/round/batches.hpp). All but gamma are at least 1; gamma is at most 64.
struct RunShape {
  std::uint64_t seed = 1;
  std::uint32_t trials = 64;
  std::uint32_t length = 1000;
  std::uint32_t batches = 64;
  std::int32_t gamma = 5;
  LaunchLimits limits = {};
  /// Batches begin and end at multiples of it; a divisor of total().
  std::uint64_t batch_unit = 1;

  std::uint64_t total() const { return std::uint64_t{trials} * length; }
  BatchCut cut() const { return {total(), batches, batch_unit}; }
};

/// Rounds in which each drafted token is accepted with probability alpha.
struct IidRun {
  RunShape shape;
  double alpha = 0;
};

/// Rounds over a pair of stored tables in host memory, prepared for the rule.
struct TableRun {
  RunShape shape;
  PreparedPairView tables;
  std::variant<TokenRule, LenienceRule> rule;
  std::vector<std::uint32_t>
      starts;  ///< contexts of the prompts; trial i begins with prompt i modulo their number
};

/// The counts of a run: integers, the same on every device and in any order of threads.
struct RoundCounts {
  std::int32_t gamma = 0;
  /// [batches that have rounds][gamma + 1]: number of rounds by accepted tokens.
  std::vector<std::uint64_t> lengths;
  /// For each batch: the sum of acceptance rates over the contexts of emitted tokens, in units of 2^-32.
  /// Empty for an IidRun.
  std::vector<WideCount> overlap;
  std::uint64_t blocks = 0;  ///< Philox blocks used; for a TableRun also the number of slots read
  bool partial = false;      ///< whether the watch ended the run before all rounds were done
};

/// Called after each launch with the number of rounds it did. If it returns false, the run ends with the
/// results of the launches so far.
using Watch = std::function<bool(std::uint64_t rounds)>;

/// Simulates in the emulator: slow, for tests.
RoundCounts simulate_emulated(const IidRun& run, const Watch& watch,
                              simt::Order order = simt::Order::forward);
RoundCounts simulate_emulated(const TableRun& run, const Watch& watch,
                              simt::Order order = simt::Order::forward);

/// Simulates on the current device (in the library speclab::gpu). Any thread may call it; runs of several
/// threads share the device. Throws std::runtime_error with call, file and line when CUDA fails, and for a
/// run that `layout_unsupported_reason` (simulate_layout.hpp) refuses.
RoundCounts simulate_on_gpu(const IidRun& run, const Watch& watch);
RoundCounts simulate_on_gpu(const TableRun& run, const Watch& watch);

}  // namespace speclab

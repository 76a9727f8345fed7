// GPU Monte Carlo: what to simulate, and the counts that come back.
#pragma once

#include <cstdint>
#include <functional>
#include <variant>
#include <vector>

#include "core/distribution/wide_count.hpp"
#include "core/fast/prepared_pair_step.hpp"
#include "core/round/batches.hpp"
#include "core/rules/lenience.hpp"
#include "core/rules/token.hpp"
#include "kernels/simt/emulator.hpp"

namespace speclab {

/// How much one launch may do, so that progress is seen and an interrupt is heard within about a second.
struct LaunchLimits {
  std::uint64_t rounds = std::uint64_t{1} << 32U;  ///< of independent acceptances
  std::uint64_t steps = std::uint64_t{1} << 31U;   ///< of all sequences; their overlaps fit 64 bits
  std::uint64_t steps_in_a_row = 1U << 19U;        ///< of one sequence, at something like a microsecond
  std::uint64_t sequences = 1U << 22U;
};

/// A run: `trials` sequences of `length` rounds of `gamma` drafts, counted in `batches`
/// (core/round/batches.hpp). All but gamma are at least 1, gamma is at most 64.
struct RunShape {
  std::uint64_t seed = 1;
  std::uint32_t trials = 64;
  std::uint32_t length = 1000;
  std::uint32_t batches = 64;
  std::int32_t gamma = 5;
  LaunchLimits limits = {};
  std::uint64_t batch_unit = 1;  ///< batches begin and end at multiples of it; a divisor of total()

  std::uint64_t total() const { return std::uint64_t{trials} * length; }
  BatchCut cut() const { return {total(), batches, batch_unit}; }
};

/// Rounds whose acceptances have probability alpha.
struct IidRun {
  RunShape shape;
  double alpha = 0;
};

/// Rounds over a pair of stored tables, in host memory, prepared for the rule.
struct TableRun {
  RunShape shape;
  PreparedPairView tables;
  std::variant<TokenRule, LenienceRule> rule;
  std::vector<std::uint32_t> starts;  ///< contexts of the prompts; trials take turns
};

/// What a run left. Integers: the same on every device and in any order of threads.
struct RoundCounts {
  std::int32_t gamma = 0;
  std::vector<std::uint64_t> lengths;  ///< [batches that have rounds][gamma + 1]: rounds by tokens accepted
  std::vector<WideCount> overlap;  ///< by batch: sums of acceptance rates over emitted tokens' contexts, in
                                   ///< units of 2^-32; tables only
  std::uint64_t blocks = 0;        ///< random blocks used; of tables, slots read as well
  bool partial = false;            ///< ended by the watch with rounds left
};

/// Told after each launch how many rounds it did; false ends the run with the launches so far, which are
/// whole.
using Watch = std::function<bool(std::uint64_t rounds)>;

/// In the emulator: slow, for tests.
RoundCounts simulate_emulated(const IidRun& run, const Watch& watch,
                              simt::Order order = simt::Order::forward);
RoundCounts simulate_emulated(const TableRun& run, const Watch& watch,
                              simt::Order order = simt::Order::forward);

/// On the current device (in the library speclab::gpu). Any thread may call; runs of several threads share
/// the device. Throws std::runtime_error with call, file and line when CUDA refuses, and for a run that
/// `layout_unsupported_reason` (simulate_plan.hpp) does not let pass.
RoundCounts simulate_on_gpu(const IidRun& run, const Watch& watch);
RoundCounts simulate_on_gpu(const TableRun& run, const Watch& watch);

}  // namespace speclab

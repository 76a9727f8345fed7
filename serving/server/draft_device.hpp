// A draft on its own device, which drafts the next round for likely outcomes while the target verifies (SSD;
// Kumar, Dao and May 2026, arXiv:2603.03251). sim/schedules/asynchronous.hpp does the same for one sequence.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "serving/server/acceptance_law.hpp"
#include "serving/server/step_work.hpp"

namespace speclab {

/// A step begins when the drafts that it verifies are there. During the step before, the device has drafted
/// for the likely outcomes. After that step it drafts for sequences with any other outcome, in one batch, and
/// all sequences wait for these; with `plain_after_miss` such sequences are decoded without drafts instead.
/// The device keeps its cache current, and reads prompts while the target does.
struct DraftDevice {
  std::uint32_t outcomes = 1;  ///< likely outcomes of each sequence that the device drafts for
  bool plain_after_miss = false;
  /// hit[verified drafts][accepted of them] is the probability that the token after them was drafted for.
  /// hit[g] has g + 1 entries; g = 0 is a round without drafts, or the prompt.
  std::vector<std::vector<double>> hit{};
  StepTime target{};  ///< time of a step without its drafts
  StepTime draft{};   ///< time of its draft runs alone
};

/// Returns a table with one probability for all outcomes, up to `max_gamma` drafted tokens.
std::vector<std::vector<double>> equal_hits(double hit, std::uint32_t max_gamma);

/// The reason why numbers cannot be shares by rank: one is above the one before it, or their sum is above 1.
struct RankShareProblem {
  std::optional<std::size_t> rank;  ///< empty: the sum is wrong
  std::string why;
};
std::optional<RankShareProblem> rank_share_problem(std::span<const double> rank_shares);

/// Returns the probabilities `DraftDevice::hit` for a device that drafts for the `outcomes` likeliest
/// outcomes of a round. k tokens are accepted as in `law` on average, and the token after them has rank r in
/// the draft's row with probability rank_shares[r], for every k. Shares must not rise with r, and must add up
/// to at most 1.
std::vector<std::vector<double>> likeliest_hits(const AcceptanceLaw& law, std::span<const double> rank_shares,
                                                std::uint32_t outcomes, std::uint32_t max_gamma);

/// Returns P(the device drafted for a round's outcome), for rounds of `gamma` drafted tokens whose acceptance
/// is `law` on average.
double mean_hit(const AcceptanceLaw& law, const std::vector<std::vector<double>>& hit, std::uint32_t gamma);

}  // namespace speclab

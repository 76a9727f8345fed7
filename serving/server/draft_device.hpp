// Drafts on a device of their own, which drafts the next round for likely outcomes while the target verifies
// (SSD; Kumar, Dao and May 2026, arXiv:2603.03251). sim/schedules/asynchronous.hpp is the same with one
// sequence.
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

/// A step begins when the drafts that it verifies are there: the device has had the step before for those of
/// likely outcomes, and drafts for sequences with another outcome after it, in one batch. All sequences wait
/// for these; with `plain_after_miss` such sequences are decoded without drafts instead. The device keeps its
/// cache up, and reads prompts while the target does.
struct DraftDevice {
  std::uint32_t outcomes = 1;  ///< that are drafted for, of each sequence
  bool plain_after_miss = false;
  /// By verified drafts and by accepted ones of these: the probability that the token after them was drafted
  /// for. hit[g] has g + 1 entries; g = 0 is a round without drafts, or the prompt.
  std::vector<std::vector<double>> hit{};
  StepTime target{};  ///< of a step without its drafts
  StepTime draft{};   ///< of its draft runs alone
};

/// One probability for all outcomes, up to `max_gamma` drafts.
std::vector<std::vector<double>> equal_hits(double hit, std::uint32_t max_gamma);

/// What keeps these from being shares by rank: one is above that before it, or they add up to more than 1.
struct RankShareProblem {
  std::optional<std::size_t> rank;  ///< none: their sum
  std::string why;
};
std::optional<RankShareProblem> rank_share_problem(std::span<const double> rank_shares);

/// Of the `outcomes` likeliest outcomes of a round: k tokens are accepted, as `law` has it on average, and
/// the token after them has rank r among the draft's own with probability rank_shares[r], whatever k. Shares
/// do not rise with r, and add up to 1 at most.
std::vector<std::vector<double>> likeliest_hits(const AcceptanceLaw& law, std::span<const double> rank_shares,
                                                std::uint32_t outcomes, std::uint32_t max_gamma);

/// P(a round's outcome was drafted for), of rounds of `gamma` drafts whose acceptance is `law` on average.
double mean_hit(const AcceptanceLaw& law, const std::vector<std::vector<double>>& hit, std::uint32_t gamma);

}  // namespace speclab

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

/// A step begins when its drafts are there. During the step before, the device has drafted for the likely
/// outcomes; then it drafts, in one batch, for the sequences with another outcome, and all sequences wait.
/// With `plain_after_miss` such sequences decode without drafts instead. The device keeps its cache current,
/// and reads prompts while the target does.
struct DraftDevice {
  std::uint32_t outcomes = 1;  ///< outcomes per sequence that the device drafts for
  bool plain_after_miss = false;
  /// hit[verified drafts][accepted ones]: P(the device drafted for the token after them). hit[g] has g + 1
  /// entries; g = 0 is a round without drafts, or the prompt.
  std::vector<std::vector<double>> hit{};
  StepTime target{};  ///< time of a step without draft runs
  StepTime draft{};   ///< time of its draft runs
};

/// Returns a table with one probability for all outcomes, up to `max_gamma` drafted tokens.
std::vector<std::vector<double>> equal_hits(double hit, std::uint32_t max_gamma);

/// Why numbers cannot be shares by rank: one is above the one before, or they sum to more than 1.
struct RankShareProblem {
  std::optional<std::size_t> rank;  ///< empty: the sum is wrong
  std::string why;
};
std::optional<RankShareProblem> rank_share_problem(std::span<const double> rank_shares);

/// Returns DraftDevice::hit for a device that drafts for a round's `outcomes` most likely outcomes. The
/// number k of accepted tokens has the average distribution of `law`; for every k the next token has rank r
/// in the draft's row with probability rank_shares[r]. Shares must not rise with r, and must sum to at most
/// 1.
std::vector<std::vector<double>> likeliest_hits(const AcceptanceLaw& law, std::span<const double> rank_shares,
                                                std::uint32_t outcomes, std::uint32_t max_gamma);

}  // namespace speclab

#include "analysis/statistics/round_replay.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>

namespace speclab {

namespace {

/// Returns acceptance by position of the text, over all rounds in order.
std::vector<std::uint8_t> accepted_positions(std::span<const LoggedRound> log) {
  const PositionCounts counts = count_positions(log);
  const auto rate = [](std::uint64_t accepted, std::uint64_t examined) {
    return examined == 0 ? 0.0 : static_cast<double>(accepted) / static_cast<double>(examined);
  };
  const double overall = rate(counts.total_accepted(), counts.total_examined());
  std::vector<std::uint8_t> out;
  double due = 0.5;
  for (const LoggedRound& round : log) {
    out.insert(out.end(), static_cast<std::size_t>(round.accepted), 1);
    if (round.accepted < round.drafted) {
      out.push_back(0);
      continue;
    }
    const auto last = static_cast<std::size_t>(round.drafted);
    due += last == 0 ? overall : rate(counts.accepted[last - 1], counts.examined[last - 1]);
    const bool accepted = due >= 1;
    if (accepted) due -= 1;
    out.push_back(accepted ? 1 : 0);
  }
  return out;
}

std::vector<LoggedRound> rounds_along(const std::vector<std::uint8_t>& accepted, int gamma) {
  std::vector<LoggedRound> rounds;
  std::size_t at = 0;
  while (at < accepted.size()) {
    LoggedRound round{gamma, 0};
    while (round.accepted < gamma && at < accepted.size() && accepted[at] != 0) {
      ++round.accepted;
      ++at;
    }
    // The log may end within the last round.
    if (at < accepted.size()) rounds.push_back(round);
    ++at;
  }
  return rounds;
}

/// Returns the mean number of accepted tokens per round, with bounds over spans of rounds.
Interval mean_accepted_of(std::span<const LoggedRound> rounds, int gamma, double confidence) {
  constexpr std::size_t stretches = 10;
  std::vector<double> accepted(stretches);
  std::vector<double> count(stretches);
  for (std::size_t i = 0; i < rounds.size(); ++i) {
    accepted[i * stretches / rounds.size()] += rounds[i].accepted;
    count[i * stretches / rounds.size()] += 1;
  }
  const double most = *std::max_element(count.begin(), count.end());
  const Interval found = *bounded_ratio_interval(accepted, count, {0, static_cast<double>(gamma)}, confidence,
                                                 LargestDenominators{most, most});
  return neighbours_alike(accepted, count, found.estimate) ? unbounded(found.estimate) : found;
}

std::vector<double> reached_by(std::span<const LoggedRound> rounds, int gamma) {
  std::vector<double> reached(static_cast<std::size_t>(gamma) + 1);
  for (const LoggedRound& round : rounds) ++reached[static_cast<std::size_t>(round.accepted)];
  std::partial_sum(reached.rbegin(), reached.rend(), reached.rbegin());
  for (double& share : reached) share /= static_cast<double>(rounds.size());
  return reached;
}

}  // namespace

ReplayedTokens replayed_tokens(std::span<const LoggedRound> log, double confidence) {
  constexpr std::size_t enough = 40;
  ReplayedTokens out;
  if (log.size() < enough) return out;
  int longest = 0;
  for (const LoggedRound& round : log) longest = std::max(longest, round.drafted);
  const std::vector<std::uint8_t> accepted = accepted_positions(log);
  out.tokens = out.low = out.high = {1};
  out.reached = {{1}};
  for (int gamma = 1; gamma <= longest; ++gamma) {
    const std::vector<LoggedRound> rounds = rounds_along(accepted, gamma);
    if (rounds.size() < enough) break;
    const Interval mean = mean_accepted_of(rounds, gamma, confidence);
    out.reached.push_back(reached_by(rounds, gamma));
    out.tokens.push_back(1 + mean.estimate);
    out.low.push_back(1 + std::max(0.0, mean.low));
    out.high.push_back(1 + std::min(static_cast<double>(gamma), mean.high));
  }
  return out;
}

}  // namespace speclab

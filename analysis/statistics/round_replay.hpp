// Replays rounds of a shorter draft from a log of rounds.
//
// If tokens are verified one at a time and the draft reads only the text, then whether a draft at a position
// of the text is accepted, and the token emitted there, have a distribution given the preceding text that
// does not depend on gamma (Leviathan et al. 2023, section 2.3); the bonus token is drawn from the target and
// so is distributed like any emitted token. One sequence of acceptances along the text therefore serves every
// gamma, which only determines where rounds end. A logged round shows the acceptance at all of its positions,
// except that of the bonus, where nothing was drafted.
#pragma once

#include <span>
#include <vector>

#include "analysis/statistics/acceptance_log.hpp"

namespace speclab {

/// Tokens per round for gamma = 0..k, where k is the longest draft of the log, with bounds over 10 spans of
/// consecutive rounds (bounded_ratio_interval); the bounds are 1 to gamma + 1 if neighbouring spans are
/// correlated.
struct ReplayedTokens {
  std::vector<double> tokens;
  std::vector<double> low;
  std::vector<double> high;
  std::vector<std::vector<double>> reached;  ///< reached[gamma][n]: share of rounds that accept n or more
};

/// Replays a log whose rounds are in the order of one text, or of several texts in sequence; interleaved
/// texts give wrong results, which this function cannot detect. Positions that were not drafted count as
/// accepted, evenly spread, at the acceptance rate of the last reached position. Empty (no tokens) with fewer
/// than 40 rounds.
ReplayedTokens replayed_tokens(std::span<const LoggedRound> log, double confidence);

}  // namespace speclab

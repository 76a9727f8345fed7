// Rounds of a shorter draft, from a log of rounds.
//
// Where tokens are verified one at a time and the draft reads the text alone, the acceptance of a draft for a
// position of the text, and the token that comes out, have a law given the text before it (Leviathan et al.
// 2023, section 2.3), whatever gamma is: the token that follows gamma accepted ones is drawn from the target,
// as such a token is. So one sequence of acceptances along the text has the law of every gamma, and gamma
// only says where rounds end. A logged round tells it at all of its positions but one: where the whole draft
// was accepted, the next token was not drafted.
#pragma once

#include <span>
#include <vector>

#include "analysis/statistics/acceptance_log.hpp"

namespace speclab {

/// Tokens per round of gamma = 0..k, k the longest draft of the log, with bounds of their mean over 10
/// stretches (bounded_ratio_interval); 1 to gamma + 1 where neighbouring stretches resemble each other.
struct ReplayedTokens {
  std::vector<double> tokens;
  std::vector<double> low;
  std::vector<double> high;
  std::vector<std::vector<double>> reached;  ///< reached[gamma][n]: share of rounds that accept n or more
};

/// The log has its rounds in the order of one text, or of texts one after another; interleaved ones give
/// something else, which nothing here can see. Positions that were not drafted count as accepted in the share
/// of the last drafted position that was reached, evenly spread. Empty (no tokens) with fewer rounds than 40.
ReplayedTokens replayed_tokens(std::span<const LoggedRound> log, double confidence);

}  // namespace speclab

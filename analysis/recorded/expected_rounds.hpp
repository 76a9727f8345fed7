// Computes the expected number of target runs for a recorded text, for every gamma: exact given the text and
// its log-probabilities.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "analysis/recorded/recording.hpp"

namespace speclab {

/// Rules whose rounds follow from two log-probabilities per token.
enum class RecordedRule { token, block };

/// Consecutive positions [first, last) of a recording, as a unit for intervals.
struct Stretch {
  std::size_t first = 0;
  std::size_t last = 0;
};

/// Returns one stretch for each sequence.
std::vector<Stretch> sequence_stretches(const Recording& recording);

/// Expected rounds of decoding with one gamma. Vectors have one entry per stretch.
struct GammaRounds {
  std::vector<double> rounds;  ///< expected rounds that start there
  /// Expected rounds that end within their sequence, and tokens that they emit: unbiased by the texts' ends.
  double whole_rounds = 0;
  double whole_tokens = 0;
};

/// Returns one element per gamma: element g - 1 is for g drafted tokens in a round, g = 1..most. `stretches`
/// are in order, do not overlap, and cover everything. With columns by depth `most` is at most their number
/// (asserted). Token verification with one column takes O(most) per token, depths and blocks O(most^2).
std::vector<GammaRounds> expected_rounds(const Recording& recording, std::span<const Stretch> stretches,
                                         std::size_t most, RecordedRule rule = RecordedRule::token);

/// Over rounds with at least i tokens of the text left: the share that accepts at least i, and the same share
/// among those that accept i - 1. The first share may rise from one position to the next, because these are
/// different rounds.
struct AcceptedPosition {
  double all = 0;
  double given_before = 0;
};

/// Returns P[drafted position i is accepted] for i = 1..gamma.
std::vector<AcceptedPosition> accepted_by_position(const Recording& recording, std::size_t gamma,
                                                   RecordedRule rule = RecordedRule::token);

}  // namespace speclab

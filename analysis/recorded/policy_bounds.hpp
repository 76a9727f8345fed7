// Bounds the gain of gamma policies on a recorded text exactly. A policy may use the emitted text and each
// round's number of accepted tokens. Policies that use rejected tokens cannot be evaluated, because the
// recording does not contain these tokens.
#pragma once

#include <cstddef>

#include "analysis/recorded/expected_rounds.hpp"
#include "analysis/recorded/recording.hpp"

namespace speclab {

/// Expected work for a whole recording.
struct PolicyWork {
  double rounds = 0;   ///< target runs
  double drafted = 0;  ///< tokens drafted, including those beyond the end of the text

  /// Returns the speedup if a draft run takes c and verification is free.
  double speedup(std::size_t tokens, double c) const {
    return static_cast<double>(tokens) / (rounds + c * drafted);
  }
};

/// Returns the smallest expected time, in target runs, of policies that draft up to `most` tokens and know
/// the text and its log-probabilities, but not what will be accepted: a bound for all policies that do not
/// use rejected tokens.
double min_time_knowing_text(const Recording& recording, std::size_t most, double c,
                             RecordedRule rule = RecordedRule::token);

/// Returns the work of the oracle, which knows how many tokens, up to `most`, would be accepted, and drafts
/// exactly these. For token verification with one column, `work` are the rounds of gamma = most.
PolicyWork oracle_work(const GammaRounds& work);

}  // namespace speclab

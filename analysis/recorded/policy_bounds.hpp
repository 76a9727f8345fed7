// What policies of gamma gain on a recorded text, exactly. A policy may look at the accepted text and at how
// many tokens of each round were accepted. One that looks at drafted tokens which are then rejected cannot be
// judged: the recording does not hold them.
#pragma once

#include <cstddef>
#include <functional>
#include <span>

#include "analysis/recorded/expected_rounds.hpp"
#include "analysis/recorded/recording.hpp"

namespace speclab {

/// Expected work for a whole recording.
struct PolicyWork {
  double rounds = 0;   ///< target runs
  double drafted = 0;  ///< tokens drafted, also those that run over the end of the text

  /// Speed over plain decoding where a draft run takes c and verification is free.
  double speedup(std::size_t tokens, double c) const {
    return static_cast<double>(tokens) / (rounds + c * drafted);
  }
};

/// A policy with finitely many states; every sequence begins in state 0.
struct StatePolicy {
  std::size_t states = 1;
  std::function<std::size_t(std::size_t state)> gamma;  ///< drafted tokens
  std::function<std::size_t(std::size_t state, std::size_t accepted)> next;
};

/// Takes O(states * gamma) a token.
PolicyWork policy_work(const Recording& recording, const StatePolicy& policy,
                       RecordedRule rule = RecordedRule::token);

/// The least expected time of policies that draft up to `most` tokens and know the text and its columns, but
/// not what will be accepted: an upper bound of all that do not look at rejected tokens. In target runs.
double least_time_knowing_text(const Recording& recording, std::size_t most, double c,
                               RecordedRule rule = RecordedRule::token);

/// The oracle: knows how many tokens, up to `most`, would be accepted, and drafts just these. Of token
/// verification with one column `work` are the rounds of gamma = most.
PolicyWork oracle_work(const GammaRounds& work);

}  // namespace speclab

// Decides how many tokens to draft. A policy is asked before every drafted token whether to go on, and is
// told how each round ended. It decides by the tokens drafted so far and by earlier rounds, never by a token
// that it could still drop: so the output distribution stays the target's whatever it decides
// (tests/analysis/exact/policies_lossless_test).
#pragma once

#include <concepts>
#include <cstdint>

#include "core/round/round.hpp"

namespace speclab {

/// The last token drafted in this round, and the row it was drawn from. Before the first token there is no
/// row (size 0).
template <class Real>
struct LastDrafted {
  BasicRow<Real> row;
  Token token = no_token;
};

/// `Memory` holds what the policy remembers of one sequence; it is default-constructed at the sequence's
/// start.
template <class P>
concept GammaPolicy = requires(const P& policy, typename P::Memory& memory, std::int32_t drafted,
                               const LastDrafted<double>& last, const Round& round) {
  { policy.most() } -> std::convertible_to<std::int32_t>;  // no round drafts more
  { policy.goes_on(memory, drafted, last) } -> std::convertible_to<bool>;
  policy.learn(memory, round);
};

/// Returns whether a policy knows beforehand how many tokens will be accepted, so that its rounds count as
/// `foreseen_round`. Such policies have a function `foresees()`.
template <class Policy>
bool foresees(const Policy& policy) {
  if constexpr (requires { policy.foresees(); }) {
    return policy.foresees();
  } else {
    return false;
  }
}

/// Returns a round in which only the accepted tokens were drafted, given the draft runs that those take.
inline Round foreseen_round(Round round, std::int32_t runs_of_accepted) {
  round.drafted = round.examined = round.accepted;
  round.draft_runs = runs_of_accepted;
  return round;
}

/// Common part of policies that do not look back.
struct Forgetful {
  struct Memory {};
  void learn(Memory&, const Round&) const {}
};

}  // namespace speclab

// Decides how many tokens to draft. Before every drafted token a policy decides whether to continue, and
// after each round it gets the result. It decides by the tokens drafted so far and by earlier rounds, and
// never drops a drafted token, so the output distribution stays the target's
// (tests/analysis/exact/policies_lossless_test).
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <vector>

#include "core/round/round.hpp"

namespace speclab {

/// The last token drafted in this round, and the row it was drawn from. Before the first token there is no
/// row (size 0).
template <class Real>
struct LastDrafted {
  BasicRow<Real> row;
  Token token = no_token;
};

/// `Memory` is the policy's state for one sequence, default-constructed at its start.
template <class P>
concept GammaPolicy = requires(const P& policy, typename P::Memory& memory, std::int32_t drafted,
                               const LastDrafted<double>& last, const Round& round) {
  { policy.most() } -> std::convertible_to<std::int32_t>;  // no draft goes on after so many
  { policy.goes_on(memory, drafted, last) } -> std::convertible_to<bool>;
  policy.learn(memory, round);
};

/// Returns whether a policy knows beforehand how many tokens will be accepted (it has a function
/// `foresees()`), so that its rounds count as `foreseen_round`.
template <class Policy>
bool foresees(const Policy& policy) {
  if constexpr (requires { policy.foresees(); }) return policy.foresees();
  return false;
}

/// Returns the round as if only the accepted tokens had been drafted, in this number of draft runs.
inline Round foreseen_round(Round round, std::int32_t runs_of_accepted) {
  round.drafted = round.examined = round.accepted;
  round.draft_runs = runs_of_accepted;
  return round;
}

/// The time of a round by the number of drafted tokens, for policies that weigh gain against cost.
/// times[k] is the time of a round with k drafted tokens, drafting and verification, in target runs without
/// drafts; at least one entry, all > 0. Larger k use the last entry.
struct RoundTimes {
  std::vector<double> times;

  double operator()(std::int32_t drafted) const {
    return times[std::min(static_cast<std::size_t>(drafted), times.size() - 1)];
  }
};

/// Base of policies without memory.
struct Forgetful {
  struct Memory {};
  void learn(Memory&, const Round&) const {}
};

}  // namespace speclab

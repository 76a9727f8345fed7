// How many tokens to draft. A policy is asked before every drafted token whether to go on, and is told how
// each round ended. It decides by what was drafted so far and by earlier rounds, never by a token that it
// could still drop: so the output distribution stays the target's whatever it decides
// (tests/analysis/exact/policies_lossless_test).
#pragma once

#include <concepts>
#include <cstdint>

#include "core/round/round.hpp"

namespace speclab {

/// The token drafted last in this round, and the row it was drawn from. Before the first: no row (size 0).
template <class Real>
struct LastDrafted {
  BasicRow<Real> row;
  Token token = no_token;
};

/// `Memory` is what the policy remembers of one sequence; default-constructed at its start.
template <class P>
concept GammaPolicy = requires(const P& policy, typename P::Memory& memory, std::int32_t drafted,
                               const LastDrafted<double>& last, const Round& round) {
  { policy.most() } -> std::convertible_to<std::int32_t>;  // no round drafts more
  { policy.goes_on(memory, drafted, last) } -> std::convertible_to<bool>;
  policy.learn(memory, round);
};

/// Shared by policies that do not use earlier rounds.
struct Forgetful {
  struct Memory {};
  void learn(Memory&, const Round&) const {}
};

}  // namespace speclab

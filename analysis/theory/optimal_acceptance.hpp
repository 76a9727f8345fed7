// Computes the largest probability with which a lossless rule can accept one of its candidates for one
// position. By Strassen's theorem it is 1 + min over sets S of p(S) - P(every candidate lies in S): an
// emitted token outside S is no candidate if all candidates lie in S. For i.i.d. candidates the minimum has a
// closed form (core/distribution/ratio_order.hpp); for the candidates in this file it is searched over all
// sets.
#pragma once

#include <cassert>
#include <cstdint>
#include <span>

#include "core/distribution/ratio_order.hpp"

namespace speclab {

/// Largest vocabulary for the search: all 2^V sets are tried.
inline constexpr std::int32_t max_searched_vocab = 12;

namespace detail {

/// Returns 1 + min over S of p(S) - inside(S), with sets as bit masks.
template <class Real, class Inside>
Real min_over_sets(BasicRow<Real> target, const Inside& inside) {
  assert(target.size <= max_searched_vocab);
  Real least(0);
  for (std::uint32_t set = 0; set < (1U << target.size); ++set) {
    Real probability(0);
    for (Token id = 0; id < target.size; ++id) {
      if ((set >> id & 1U) != 0) probability += target[id];
    }
    const Real gap = probability - inside(set);
    if (gap < least) least = gap;
  }
  return Real(1) + least;
}

/// Returns P(the next `left` draws without replacement stay inside `set`), given those in `drawn`.
template <class Real>
Real stays_inside(BasicRow<Real> draft, std::uint32_t set, std::uint32_t drawn, std::int32_t left) {
  Real rest(0);
  for (Token id = 0; id < draft.size; ++id) {
    if ((drawn >> id & 1U) == 0) rest += draft[id];
  }
  if (left == 0 || !(rest > Real(0))) return Real(1);
  Real total(0);
  for (Token id = 0; id < draft.size; ++id) {
    const bool eligible = (drawn >> id & 1U) == 0 && (set >> id & 1U) != 0;
    if (!eligible || !(draft[id] > Real(0))) continue;
    total += draft[id] / rest * stays_inside(draft, set, drawn | (1U << id), left - 1);
  }
  return total;
}

}  // namespace detail

/// Returns the bound for candidates drawn from the draft without replacement, as long as it has probability
/// left. Probability rows have at most `max_searched_vocab` ids (asserted).
template <class Real>
Real optimal_acceptance_without_replacement(BasicRow<Real> target, BasicRow<Real> draft,
                                            std::int32_t drafts) {
  return detail::min_over_sets(
      target, [&](std::uint32_t set) { return detail::stays_inside(draft, set, 0, drafts); });
}

/// Returns the bound for fixed candidates: the target's probability of them.
template <class Real>
Real optimal_acceptance_fixed(BasicRow<Real> target, std::span<const Token> candidates) {
  Real probability(0);
  for (const Token id : candidates) probability += target[id];
  return probability;
}

}  // namespace speclab

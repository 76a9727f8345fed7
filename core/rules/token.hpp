// Token verification, the rule of the paper (Leviathan et al. 2023, Algorithm 1). An acceptance rule defines:
//     acceptance(token, target, draft)   probability of accepting the drafted token
//     acceptance_rate(target, draft)     its mean over the draft's row: beta of Definition 3.1
//     replacement(target, draft)         weights of the token emitted at the first rejection
//     acceptances(target, draft)         optional, host only: the acceptances of all tokens at once, callable
//                                        with a token; for rules whose single acceptance reads the whole row
//     bonus(target)                      weights of the token emitted when every drafted token was accepted, and
//                                        of decoding without speculation
// If few numbers decide, core/rules/by_position.hpp derives all of them. A token of draft probability 0 (an
// injected or invalid draft) is rejected. NaN probabilities reject; the replacement is then `invalid_token`.
#pragma once

#include "core/rules/by_position.hpp"

namespace speclab {

/// Accepts with min(1, p/q), else samples norm((p-q)+). Lossless, and no lossless rule for one token accepts
/// more often (the overlap is the largest probability with which a coupling of p and q can agree).
struct TokenRule : ByPosition<TokenRule> {
  using Pointwise = TokenRule;
  static constexpr Correction correction = Correction::residual;

  template <class Real>
  SPECLAB_HD Real acceptance_probability(const Real& p, const Real& q) const {
    return acceptance_ratio(p, q, Real(1));
  }
  template <class Real>
  SPECLAB_HD Real acceptance_rate(BasicRow<Real> target, BasicRow<Real> draft) const {
    return overlap(target, draft);
  }
};

}  // namespace speclab

// Token verification, the rule of the paper (Leviathan et al. 2023, Algorithm 1). A coin rule says:
//     acceptance(token, target, draft)   probability of keeping the drafted token
//     acceptance_rate(target, draft)     its mean over the draft's row: beta of Definition 3.1
//     replacement(target, draft)         weights of the token emitted at the first rejection
//     coins(target, draft)               optional, host only: all of a context's acceptances at once,
//     callable
//                                        with a token, where a single one takes a pass over the row
//     bonus(target)                      weights of the token emitted when every drafted token was kept:
//                                        those of plain decoding
// A token of draft mass zero (an injected or damaged draft) is rejected. NaN masses reject, and surface as
// `invalid_token` when the replacement is picked.
#pragma once

#include "core/distribution/divergence.hpp"
#include "core/distribution/row.hpp"

namespace speclab {

/// min(1, p / (scale * q)), with q = 0 and NaN counting as 0.
template <class Real>
SPECLAB_HD Real acceptance_ratio(const Real& p, const Real& q, const Real& scale) {
  const Real bound = scale * q;
  if (!(bound > Real(0)) || !(p > Real(0))) return Real(0);
  if (p >= bound) return Real(1);
  return p / bound;
}

/// What most rules have in common: when every drafted token was kept, one more comes from the target.
struct BonusFromTarget {
  template <class Real>
  SPECLAB_HD BasicRow<Real> bonus(BasicRow<Real> target) const {
    return target;
  }
};

/// Keep with min(1, p/q), else sample norm((p-q)+). Lossless, and no lossless rule for one token accepts more
/// often (the overlap is the largest probability with which a coupling of p and q can agree).
struct TokenRule : BonusFromTarget {
  using Pointwise = TokenRule;

  template <class Real>
  SPECLAB_HD Real kept(const Real& p, const Real& q) const {
    return acceptance_ratio(p, q, Real(1));
  }
  template <class Real>
  SPECLAB_HD Real residual_scale() const {
    return Real(1);
  }
  template <class Real>
  SPECLAB_HD Real acceptance(Token token, BasicRow<Real> target, BasicRow<Real> draft) const {
    return kept(target[token], draft[token]);
  }
  template <class Real>
  SPECLAB_HD Real acceptance_rate(BasicRow<Real> target, BasicRow<Real> draft) const {
    return overlap(target, draft);
  }
  template <class Real>
  SPECLAB_HD ResidualRow<Real> replacement(BasicRow<Real> target, BasicRow<Real> draft) const {
    return {target, draft, residual_scale<Real>()};
  }
};

}  // namespace speclab

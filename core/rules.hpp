// Verification rules for one drafted token. A rule says three things:
//     acceptance(token, target, draft)   probability of keeping the drafted token
//     acceptance_rate(target, draft)     its mean over the draft's row: beta of Definition 3.1
//     replacement(target, draft)         weights of the token emitted at the first rejection
//     bonus(target)                      weights of the token emitted when every drafted token was kept:
//     those of
//                                        plain decoding
// The program that applies them is core/verify.hpp. A token of draft mass zero (an injected or damaged draft)
// is rejected. NaN masses reject, and surface as `invalid_token` when the replacement is picked.
#pragma once

#include "speclab/core/divergence.hpp"
#include "speclab/core/row.hpp"

namespace speclab {

/// min(1, p / (scale * q)), with q = 0 and NaN counting as 0.
template <class Real>
SPECLAB_HD Real acceptance_ratio(const Real& p, const Real& q, const Real& scale) {
  const Real bound = scale * q;
  if (!(bound > Real(0)) || !(p > Real(0))) return Real(0);
  if (p >= bound) return Real(1);
  return p / bound;
}

/// Leviathan et al. 2023, Algorithm 1: keep with min(1, p/q), else sample norm((p-q)+). Lossless.
struct TokenRule {
  template <class Real>
  SPECLAB_HD Real acceptance(Token token, BasicRow<Real> target, BasicRow<Real> draft) const {
    return acceptance_ratio(target[token], draft[token], Real(1));
  }
  template <class Real>
  SPECLAB_HD Real acceptance_rate(BasicRow<Real> target, BasicRow<Real> draft) const {
    return overlap(target, draft);
  }
  template <class Real>
  SPECLAB_HD ResidualRow<Real> replacement(BasicRow<Real> target, BasicRow<Real> draft) const {
    return {target, draft, Real(1)};
  }
  template <class Real>
  SPECLAB_HD BasicRow<Real> bonus(BasicRow<Real> target) const {
    return target;
  }
};

/// The three readings of A.5's residual; the paper leaves it open.
enum class Residual { target_minus_draft, literal, target };

/// Leviathan et al. 2023, A.5 at temperature > 0: keep with min(1, p/(l q)), l in (0, 1]. Lossy for l < 1.
/// `target_minus_draft` and `literal` keep the output below p / l everywhere; `target` does not.
struct LenienceRule {
  double lenience = 1;
  Residual residual = Residual::target_minus_draft;

  template <class Real>
  SPECLAB_HD Real acceptance(Token token, BasicRow<Real> target, BasicRow<Real> draft) const {
    return acceptance_ratio(target[token], draft[token], Real(lenience));
  }
  template <class Real>
  SPECLAB_HD Real acceptance_rate(BasicRow<Real> target, BasicRow<Real> draft) const {
    return lenient_overlap(target, draft, Real(lenience));
  }
  template <class Real>
  SPECLAB_HD ResidualRow<Real> replacement(BasicRow<Real> target, BasicRow<Real> draft) const {
    if (residual == Residual::literal) return {target, draft, Real(lenience)};
    if (residual == Residual::target) return {target, draft, Real(0)};
    return {target, draft, Real(1)};
  }
  template <class Real>
  SPECLAB_HD BasicRow<Real> bonus(BasicRow<Real> target) const {
    return target;
  }
};

/// All mass on one id.
template <class Real>
struct PointRow {
  using value_type = Real;
  Token id;
  std::int32_t size;
  SPECLAB_HD Real operator[](Token other) const { return other == id ? Real(1) : Real(0); }
};

/// Lowest id of largest mass; `invalid_token` when any mass is NaN.
template <class Weights>
SPECLAB_HD Token argmax(const Weights& weights) {
  Token best = 0;
  for (Token id = 0; id < weights.size; ++id) {
    if (!(weights[id] == weights[id])) return invalid_token;
    if (weights[id] > weights[best]) best = id;
  }
  return best;
}

/// A.5 at temperature 0, over the target's row before argmax: keep iff p(x) >= l * max p, else emit argmax p.
/// (The paper prints <=, a typo: at l = 1 that would keep everything, yet it reports alpha = 0.75 there.)
struct GreedyLenienceRule {
  double lenience = 1;

  template <class Real>
  SPECLAB_HD Real acceptance(Token token, BasicRow<Real> target, BasicRow<Real>) const {
    const Token best = argmax(target);
    if (best < 0) return Real(0);
    return target[token] >= Real(lenience) * target[best] ? Real(1) : Real(0);
  }
  template <class Real>
  SPECLAB_HD Real acceptance_rate(BasicRow<Real> target, BasicRow<Real> draft) const {
    const Token best = argmax(target);
    if (best < 0) return Real(0);
    const Real bar = Real(lenience) * target[best];
    return sum_terms<Real>(0, draft.size, [&](Token id) { return target[id] >= bar ? draft[id] : Real(0); });
  }
  template <class Real>
  SPECLAB_HD PointRow<Real> replacement(BasicRow<Real> target, BasicRow<Real>) const {
    return bonus(target);
  }
  template <class Real>
  SPECLAB_HD PointRow<Real> bonus(BasicRow<Real> target) const {
    return {argmax(target), target.size};
  }
};

/// Planted fault: keeps every drafted token. For showing that a test can fail.
struct AcceptAllFault : TokenRule {
  template <class Real>
  SPECLAB_HD Real acceptance(Token, BasicRow<Real>, BasicRow<Real>) const {
    return Real(1);
  }
  template <class Real>
  SPECLAB_HD Real acceptance_rate(BasicRow<Real>, BasicRow<Real>) const {
    return Real(1);
  }
};

/// Planted fault: after a rejection, samples the target instead of the residual.
struct ResampleTargetFault : TokenRule {
  template <class Real>
  SPECLAB_HD BasicRow<Real> replacement(BasicRow<Real> target, BasicRow<Real>) const {
    return target;
  }
};

/// Planted fault: the residual with target and draft exchanged.
struct SwappedResidualFault : TokenRule {
  template <class Real>
  SPECLAB_HD ResidualRow<Real> replacement(BasicRow<Real> target, BasicRow<Real> draft) const {
    return {draft, target, Real(1)};
  }
};

}  // namespace speclab

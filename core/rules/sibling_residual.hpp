// Recursive rejection among siblings in three numbers, for kernels, which cannot keep a row for each refusal.
// core/rules/tree.hpp has the definition, with rows.
//
// The siblings come from a draft q, the target is p. After r refusals the definition has p_r and q_r. With
//     g_i = M_(i-1) / Q_(i-1),  G_r = g_1 + ... + g_r,  M_r = sum (p - G_r q)+,  Q_r = 1 - q(refused tokens)
// where M_0 = Q_0 = 1, and Q_r = 1 for ever if siblings are independent, it is
//     p_r = (p - G_r q)+ / M_r  for every token, and  q_r = q / Q_r  for those that were not refused:
// ((a - b)+ - c)+ = (a - b - c)+, and a token is refused only where p_(r-1) < q_(r-1), so that nothing is
// left of it, whatever is subtracted later. A residual that would be 0 everywhere leaves p_r as it was, and
// then G and M stay, too.
#pragma once

#include "core/host_device.hpp"

namespace speclab {

template <class Real>
struct SiblingResidual {
  Real taken{0};       ///< G_r
  Real left{1};        ///< M_r
  Real draft_left{1};  ///< Q_r

  /// min(1, p_r / q_r) of a token with p / q = `ratio` that was not refused, q > 0. 0 for NaN.
  SPECLAB_HD Real acceptance_probability(const Real& ratio) const {
    const Real over = ratio - taken;
    if (!(over > Real(0)) || !(draft_left > Real(0))) return Real(0);
    const Real probability = over * draft_left / left;
    return probability >= Real(1) ? Real(1) : probability;
  }

  /// G after one more refusal.
  SPECLAB_HD Real taken_next() const {
    return draft_left > Real(0) ? Real(taken + left / draft_left) : taken;
  }

  /// A token was refused, and sum (p - taken_next() q)+ is `total`. `draft_probability` is what q loses: that
  /// of the token, or 0 if siblings are independent or q had lost it before. False when the residual is 0.
  SPECLAB_HD bool refuse(const Real& total, const Real& draft_probability) {
    const bool remains = total > Real(0);
    if (remains) {
      taken = taken_next();
      left = total;
    }
    draft_left = draft_left - draft_probability;
    return remains;
  }
};

}  // namespace speclab

// The residual of recursive rejection and of traversal verification among siblings, as four numbers: kernels
// cannot keep a row for each refusal. core/rules/tree.hpp and traversal.hpp have the definitions, with rows.
//
// The siblings come from a draft q, the target is p, and their parent is reached with a_0; in recursive
// rejection a is always 1. After r refusals the definition has p_r, q_r and a_r. With
//     G_(r+1) = G_r + L_r / Q_r,   T = sum (p - G_(r+1) q)+,   L_(r+1) = T + L_r (1 - a_r),
//     a_(r+1) = T / L_(r+1),       Q_r = 1 - q(refused tokens)
// where G_0 = 0, L_0 = 1 / a_0, Q_0 = 1, and Q_r stays 1 if siblings are independent,
//     a_r p_r = (p - G_r q)+ / L_r  for every token, and  q_r = q / Q_r  for those that were not refused:
// ((a - b)+ - c)+ = (a - b - c)+, and a token is refused only if a_r p_r < q_r, so that nothing is left of
// it, whatever is subtracted later (a token whose reach was 1 is surely accepted, because refusals below keep
// it at 1). With a = 1, L = sum (p - G q)+. A residual that would be 0 everywhere leaves p_r unchanged: if
// a_r was 1, G, L and a stay unchanged, too; else a_(r+1) = 0, and p_r no longer matters.
#pragma once

#include "core/host_device.hpp"

namespace speclab {

/// If less than this share of the draft's row is left, callers sum the rest of the row instead of using 1 -
/// q(refused): the difference has the rounding error of the full row, four binary digits at a sixteenth of
/// it.
inline constexpr double min_draft_difference = 0x1p-4;

template <class Real>
struct SiblingResidual {
  Real taken{0};       ///< G_r
  Real left{1};        ///< L_r
  Real draft_left{1};  ///< Q_r
  Real reach{1};       ///< a_r

  /// Returns the state before any refusal, at a node that is reached with `reach`, above 0.
  SPECLAB_HD static SiblingResidual reached(const Real& reach) {
    return {Real(0), Real(Real(1) / reach), Real(1), reach};
  }

  /// Returns min(1, a_r p_r / q_r) for a token with p / q = `ratio` that was not refused, q > 0; 0 for NaN.
  SPECLAB_HD Real acceptance_probability(const Real& ratio) const {
    const Real over = ratio - taken;
    if (!(over > Real(0)) || !(draft_left > Real(0))) return Real(0);
    const Real probability = over * draft_left / left;
    return probability >= Real(1) ? Real(1) : probability;
  }

  /// Returns G after one more refusal.
  SPECLAB_HD Real taken_next() const {
    return draft_left > Real(0) ? Real(taken + left / draft_left) : taken;
  }

  /// Records that a token was refused, where sum (p - taken_next() q)+ is `total`. `draft_probability` is
  /// what q loses: the token's probability, or 0 if siblings are independent, if q lost it before, or if the
  /// caller sets `draft_left` itself. The caller must set it below `min_draft_difference`, where the
  /// difference computed here loses its digits. Returns false if the residual is 0 at a reach of 1.
  SPECLAB_HD bool refuse(const Real& total, const Real& draft_probability) {
    const Real left_next = total + left * (Real(1) - reach);
    const bool remains = left_next > Real(0);
    if (remains) {
      taken = taken_next();
      left = left_next;
      reach = total / left;
    }
    draft_left = draft_left - draft_probability;
    return remains;
  }
};

}  // namespace speclab

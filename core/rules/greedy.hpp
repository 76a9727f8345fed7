// Greedy verification, as serving engines do it at temperature 0.
#pragma once

#include "core/rules/by_position.hpp"

namespace speclab {

/// Accepts iff the drafted token is the target's argmax (lowest id on ties), else emits the argmax. It emits
/// the tokens of greedy decoding: lossless at temperature 0, for any draft.
struct GreedyRule : ByPosition<GreedyRule> {
  static constexpr Correction correction = Correction::best;

  template <class Rows>
  SPECLAB_HD PositionNumbers<typename Rows::Real> numbers(const Rows& rows) const {
    return {.best = rows.target_best().token};
  }
  template <class Real>
  SPECLAB_HD Real acceptance_probability(const PositionNumbers<Real>& here, Token token, const Real&,
                                         const Real&) const {
    return token == here.best ? Real(1) : Real(0);
  }
};

/// Base of rules that are compared with greedy decoding of the target.
struct NearGreedy {
  template <class Real>
  SPECLAB_HD PointRow<Real> plain(BasicRow<Real> target) const {
    return {argmax(target), target.size};
  }
};

}  // namespace speclab

// Rules that verify against the target's argmax and also accept tokens close to it. Both emit the argmax
// after a rejection and as the bonus, so they are compared with greedy decoding. Decisions and defaults are
// those of YichiCS/Secure-Speculative-Decoding, securesd/verifier/mars.py, bild.py and methods.py.
#pragma once

#include <cmath>

#include "core/rules/greedy.hpp"

namespace speclab {

/// Margin-aware verification (Song et al. 2026, "MARS", arXiv 2601.15498): accepts the target's best token,
/// and also the second best if the ratio of their logits, z_2/z_1, is above theta. The ratio depends on the
/// constant that softmax removes: here z = log p + `log_sum_exp`, the logarithm of the sum of all exp(z).
/// Where z_1 is negative, the ratio is above 1. Lossy; computed in double for any arithmetic. Host only.
struct MarsRule : ByPosition<MarsRule>, NearGreedy {
  static constexpr Correction correction = Correction::best;
  double theta = 0.9;
  double log_sum_exp = 20;

  MarsRule() = default;
  MarsRule(double ratio, double constant) : theta(ratio), log_sum_exp(constant) {}

  /// Returns the two tokens that it accepts; they are the same if the second best is not near enough.
  template <class Rows>
  PositionNumbers<typename Rows::Real> numbers(const Rows& rows) const {
    const auto best = rows.target_best();
    const auto second = rows.target_ranked(2);
    const bool both = best.token >= 0 && second.token >= 0 &&
                      near(static_cast<double>(best.probability), static_cast<double>(second.probability));
    return {.best = best.token, .second = both ? second.token : best.token};
  }
  /// Returns whether the two largest probabilities are near enough.
  bool near(double best, double second) const {
    return second > 0 && (std::log(second) + log_sum_exp) / (std::log(best) + log_sum_exp) > theta;
  }
  template <class Real>
  Real acceptance_probability(const PositionNumbers<Real>& here, Token token, const Real&,
                              const Real&) const {
    return token == here.best || token == here.second ? Real(1) : Real(0);
  }
};

/// Big little decoder (Kim et al. 2023, "Speculative decoding with big little decoder"). Where the draft is
/// unsure, max q < fallback, the token is rejected. It is also rejected if the target finds it unlikely, -log
/// p(x) > rollback, and it is not the argmax. Lossy. The bound exp(-rollback) is computed in double. Host
/// only. (The authors' code tests only the first token below it. This differs only if the argmax is below it,
/// which at rollback 8 needs more than e^8 tokens.)
struct BildRule : ByPosition<BildRule>, NearGreedy {
  static constexpr Correction correction = Correction::best;
  double fallback = 0.35;
  double rollback = 8;

  BildRule() = default;
  BildRule(double confidence, double surprise) : fallback(confidence), rollback(surprise) {}

  /// Returns whether the draft is sure, the argmax, and the smallest probability that is not rolled back.
  template <class Rows>
  PositionNumbers<typename Rows::Real> numbers(const Rows& rows) const {
    using Real = typename Rows::Real;
    const auto draft = rows.draft_best();
    const bool sure = draft.token >= 0 && !(static_cast<double>(draft.probability) < fallback);
    return {sure ? Real(1) : Real(0), rows.target_best().token, Real(std::exp(-rollback))};
  }
  template <class Real>
  Real acceptance_probability(const PositionNumbers<Real>& here, Token token, const Real& p,
                              const Real&) const {
    const bool likely = token == here.best || static_cast<double>(p) >= static_cast<double>(here.other);
    return here.best >= 0 && likely ? here.number : Real(0);
  }
};

}  // namespace speclab

// Coupling rules draw the emitted token itself, given the drafted one, and accept the draft if both agree:
//     coupled(token, target, draft)   weights of the emitted token when `token` was drafted
//     acceptance_rate, bonus          as for acceptance rules
// The rule is lossless if the mean of these rows over the draft is the target.
#pragma once

#include "core/distribution/number.hpp"
#include "core/rules/by_position.hpp"

namespace speclab {

/// A drafted token with its own weight, and all others with their target probability times `others`.
template <class Real>
struct MatchedRow {
  using value_type = Real;
  BasicRow<Real> target;
  Token token;
  Real itself;
  Real others;
  std::int32_t size;

  SPECLAB_HD Real operator[](Token id) const { return id == token ? itself : Real(target[id] * others); }
};

/// Same-sample verification: draws Y ~ p independently of the draft, accepts iff Y = x, and emits Y, as
/// engines do that sample the target first and then compare. Lossless; accepts with sum p q. With thresholds
/// below 1 it accepts with min(1, p / threshold_acc), and surely if p >= threshold_single; a rejected token
/// is replaced by another of the target. Then it is lossy. (SGLang's sampling over one drafted path:
/// sgl-project/sglang 120affb, sgl-kernel/csrc/speculative/speculative_sampling.cuh, lines 78 to 93.)
struct MatchRule : BonusFromTarget {
  using SaidByPosition = MatchRule;
  static constexpr Correction correction = Correction::another;
  double threshold_single = 1;
  double threshold_acc = 1;

  MatchRule() = default;
  SPECLAB_HD MatchRule(double single, double acc) : threshold_single(single), threshold_acc(acc) {}

  template <class Real>
  SPECLAB_HD MatchedRow<Real> coupled(Token token, BasicRow<Real> target, BasicRow<Real> draft) const {
    const Real p = target[token];
    const Real accepted = acceptance_probability(p, draft[token]);
    const Real others = p < Real(1) ? Real((Real(1) - accepted) / (Real(1) - p)) : Real(0);
    return {target, token, accepted, others, target.size};
  }
  template <class Real>
  SPECLAB_HD Real acceptance_rate(BasicRow<Real> target, BasicRow<Real> draft) const {
    return sum_terms<Real>(0, target.size, [&](Token id) {
      return Real(acceptance_probability(target[id], draft[id]) * draft[id]);
    });
  }
  /// Returns P(the drafted token is emitted); otherwise another token is.
  template <class Real>
  SPECLAB_HD Real acceptance_probability(const Real& p, const Real&) const {
    if (p >= from_decimal<Real>(threshold_single)) return Real(1);
    return acceptance_ratio(p, Real(1), from_decimal<Real>(threshold_acc));
  }
};

}  // namespace speclab

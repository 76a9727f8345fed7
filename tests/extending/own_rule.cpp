// Two verification rules: one lossless, one that claims to be and is not.
#include "core/distribution/number.hpp"
#include "core/rules/token.hpp"
#include "experiments/catalog/rules/rule_entry.hpp"
#include "tests/extending/own_kinds.hpp"

namespace speclab {

namespace {

/// Accepts with boldness * min(1, p/q). Lossless for every boldness in [0, 1].
struct TimidRule : ByPosition<TimidRule> {
  static constexpr Correction correction = Correction::thinned;
  double boldness = 0.5;

  template <class Real>
  Real acceptance_probability(const Real& p, const Real& q) const {
    return from_decimal<Real>(boldness) * acceptance_ratio(p, q, Real(1));
  }
  /// 1 - boldness * min(1, q/p), so that p - boldness * min(p, q) is left of p.
  template <class Real>
  Real share(const PositionNumbers<Real>&, const Real& p, const Real& q) const {
    return Real(1) - from_decimal<Real>(boldness) * acceptance_ratio(q, p, Real(1));
  }
};

/// Samples the target after a rejection, not the residual.
struct ResamplingRule : TokenRule {
  template <class Real>
  BasicRow<Real> replacement(BasicRow<Real> target, BasicRow<Real>) const {
    return target;
  }
};

}  // namespace

RuleKind timid_rule() {
  return rule_kind<TimidRule>(
      "timid", "Accept with boldness * min(1, p/q), else sample norm(p - boldness min(p, q)). Lossless.",
      ExpectedLossless::always,
      {field("boldness", &TimidRule::boldness, number(0, 1), "Factor of Algorithm 1's acceptance.")});
}

RuleKind resampling_rule() {
  return rule_kind<ResamplingRule>("resampling",
                                   "Claims to be lossless, and samples the target after a rejection.",
                                   ExpectedLossless::always);
}

}  // namespace speclab

// Two verification rules: one lossless, one that claims to be and is not.
#include "core/rules/token.hpp"
#include "experiments/catalog/rules/rule_entry.hpp"
#include "tests/extending/own_kinds.hpp"

namespace speclab {

namespace {

/// p - boldness * min(p, q), where it is read.
template <class Real>
struct TimidResidual {
  using value_type = Real;
  BasicRow<Real> target;
  BasicRow<Real> draft;
  Real boldness;
  std::int32_t size;
  Real operator[](Token id) const {
    return target[id] - boldness * (draft[id] < target[id] ? draft[id] : target[id]);
  }
};

/// Accepts with boldness * min(1, p/q). Lossless for every boldness in [0, 1].
struct TimidRule : BonusFromTarget {
  double boldness = 0.5;

  template <class Real>
  Real acceptance(Token token, BasicRow<Real> target, BasicRow<Real> draft) const {
    return Real(boldness) * acceptance_ratio(target[token], draft[token], Real(1));
  }
  template <class Real>
  Real acceptance_rate(BasicRow<Real> target, BasicRow<Real> draft) const {
    return Real(boldness) * overlap(target, draft);
  }
  template <class Real>
  TimidResidual<Real> replacement(BasicRow<Real> target, BasicRow<Real> draft) const {
    return {target, draft, Real(boldness), target.size};
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

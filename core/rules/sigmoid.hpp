// The sigmoid approximation of GPU kernels (Wagner et al. 2024, section 3.2.2, Eq. 5): both softmaxes are
// replaced by an element-wise sigmoid of scaled logits, and Algorithm 1 runs on what comes out.
#pragma once

#include <cmath>

#include "core/rules/token.hpp"

namespace speclab {

/// p_hat(x) = sigma((z(x) - alpha) / (beta - alpha)) with z = log p, one choice of logits (a row fixes them
/// up to a constant, which softmax ignores and the sigmoid does not). Probability zero is a logit of minus
/// infinity.
template <class Real>
SPECLAB_HD double sigmoid_weight(const Real& probability, double alpha, double beta) {
  const auto p = static_cast<double>(probability);
  if (!(p > 0)) return p;
  return 1 / (1 + std::exp(-(std::log(p) - alpha) / (beta - alpha)));
}

/// (p_hat - q_hat)+ where it is read.
template <class Real>
struct SigmoidResidual {
  using value_type = Real;
  BasicRow<Real> target;
  BasicRow<Real> draft;
  double alpha;
  double beta;
  std::int32_t size;

  SPECLAB_HD Real operator[](Token id) const {
    const double difference =
        sigmoid_weight(target[id], alpha, beta) - sigmoid_weight(draft[id], alpha, beta);
    return difference <= 0 ? Real(0) : Real(difference);
  }
};

/// Accept with min(1, p_hat/q_hat), else sample norm((p_hat - q_hat)+). Lossy: with the paper's scale
/// constants every p_hat is close to 1/2 and nearly everything that the draft proposes is accepted. Computed
/// in double whatever the arithmetic.
struct SigmoidRule : BonusFromTarget {
  using SaidByPosition = SigmoidRule;
  double alpha = -1000;
  double beta = 1000;

  SigmoidRule() = default;
  SPECLAB_HD SigmoidRule(double low, double high) : alpha(low), beta(high) {}

  template <class Real>
  SPECLAB_HD Real acceptance(Token token, BasicRow<Real> target, BasicRow<Real> draft) const {
    return Real(acceptance_ratio(sigmoid_weight(target[token], alpha, beta),
                                 sigmoid_weight(draft[token], alpha, beta), 1.0));
  }
  template <class Real>
  SPECLAB_HD Real acceptance_rate(BasicRow<Real> target, BasicRow<Real> draft) const {
    return sum_terms<Real>(0, draft.size, [&](Token id) {
      return draft[id] > Real(0) ? Real(draft[id] * acceptance(id, target, draft)) : draft[id];
    });
  }
  template <class Real>
  SPECLAB_HD SigmoidResidual<Real> replacement(BasicRow<Real> target, BasicRow<Real> draft) const {
    return {target, draft, alpha, beta, target.size};
  }
};

}  // namespace speclab

// The sigmoid approximation of GPU kernels (Wagner et al. 2024, section 3.2.2, Eq. 5): an element-wise
// sigmoid of scaled logits replaces both softmaxes, and Algorithm 1 runs on the result.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "core/rules/by_position.hpp"

namespace speclab {

/// Returns p_hat(x) = sigma((z(x) - alpha) / (beta - alpha)) with z = log p, one choice of logits (a row
/// determines them up to a constant, which softmax ignores and the sigmoid does not). Probability zero is a
/// logit of minus infinity.
template <class Real>
SPECLAB_HD double sigmoid_weight(const Real& probability, double alpha, double beta) {
  const auto p = static_cast<double>(probability);
  if (!(p > 0)) return p;
  return 1 / (1 + std::exp(-(std::log(p) - alpha) / (beta - alpha)));
}

/// Returns sigmoid_weight from a cache indexed by probability: rows of n-gram models have few distinct
/// probabilities, and a look-up is faster than an exponential. Host only.
inline double kept_sigmoid_weight(double probability, double alpha, double beta) {
  struct Kept {
    double probability;  // 0 in an empty entry
    double alpha;
    double beta;
    double weight;
  };
  constexpr int bits = 11;
  thread_local std::array<Kept, std::size_t{1} << bits> all{};
  if (!(probability > 0)) return probability;
  constexpr std::uint64_t golden = 0x9E3779B97F4A7C15;  // 2^64 / golden ratio
  Kept& kept = all[(std::bit_cast<std::uint64_t>(probability) * golden) >> (64 - bits)];
  if (kept.probability != probability || kept.alpha != alpha || kept.beta != beta)
    kept = {probability, alpha, beta, sigmoid_weight(probability, alpha, beta)};
  return kept.weight;
}

/// The row (p_hat - q_hat)+, computed when it is read.
template <class Real>
struct SigmoidResidual {
  using value_type = Real;
  BasicRow<Real> target;
  BasicRow<Real> draft;
  double alpha;
  double beta;
  std::int32_t size;

  Real operator[](Token id) const {
    if (target[id] <= draft[id]) return Real(0);  // the sigmoid rises
    return Real(kept_sigmoid_weight(static_cast<double>(target[id]), alpha, beta) -
                kept_sigmoid_weight(static_cast<double>(draft[id]), alpha, beta));
  }
};

/// Accepts with min(1, p_hat/q_hat), else samples norm((p_hat - q_hat)+). Lossy: with the paper's scale
/// constants every p_hat is close to 1/2, and nearly every drafted token is accepted. Computed in double for
/// any arithmetic.
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
  /// Returns the acceptance probabilities of a row's tokens. Where p >= q it is 1, and no weight is computed.
  template <class Real>
  auto acceptances(BasicRow<Real> target, BasicRow<Real> draft) const {
    return [this, target, draft](Token token) {
      if (target[token] >= draft[token] && draft[token] > Real(0)) return Real(1);
      return Real(acceptance_ratio(kept_sigmoid_weight(static_cast<double>(target[token]), alpha, beta),
                                   kept_sigmoid_weight(static_cast<double>(draft[token]), alpha, beta), 1.0));
    };
  }
  template <class Real>
  Real acceptance_rate(BasicRow<Real> target, BasicRow<Real> draft) const {
    const auto accepted = acceptances(target, draft);
    return sum_terms<Real>(0, draft.size, [&](Token id) {
      return draft[id] > Real(0) ? Real(draft[id] * accepted(id)) : draft[id];
    });
  }
  template <class Real>
  SigmoidResidual<Real> replacement(BasicRow<Real> target, BasicRow<Real> draft) const {
    return {target, draft, alpha, beta, target.size};
  }
};

}  // namespace speclab

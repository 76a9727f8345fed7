// Lenience (Leviathan et al. 2023, appendix A.5): accepts more, but changes the output distribution.
#pragma once

#include "core/distribution/number.hpp"
#include "core/rules/by_position.hpp"
#include "core/rules/greedy.hpp"

namespace speclab {

/// The row that replaces a rejected token, which A.5 leaves open: norm((p - q)+), norm((p - l q)+), or p.
enum class Residual { target_minus_draft, literal, target };

/// At temperature > 0: accepts with min(1, p/(l q)), l in (0, 1]. Lossy for l < 1, and with
/// `target` for every l. `target_minus_draft` and `literal` keep the output below p / l everywhere; `target`
/// does not.
struct LenienceRule : ByPosition<LenienceRule> {
  using Pointwise = LenienceRule;
  static constexpr Correction correction = Correction::residual;

  double lenience = 1;
  Residual residual = Residual::target_minus_draft;

  LenienceRule() = default;
  SPECLAB_HD explicit LenienceRule(double l, Residual reading = Residual::target_minus_draft)
      : lenience(l), residual(reading) {}

  template <class Real>
  SPECLAB_HD Real acceptance_probability(const Real& p, const Real& q) const {
    return acceptance_ratio(p, q, from_decimal<Real>(lenience));
  }
  template <class Real>
  SPECLAB_HD Real residual_scale() const {
    if (residual == Residual::literal) return from_decimal<Real>(lenience);
    return residual == Residual::target ? Real(0) : Real(1);
  }
  template <class Real>
  SPECLAB_HD Real acceptance_rate(BasicRow<Real> target, BasicRow<Real> draft) const {
    return lenient_overlap(target, draft, from_decimal<Real>(lenience));
  }
};

/// At temperature 0, over the target's row before argmax: accepts iff p(x) >= l * max p, else emits argmax p.
/// (The paper prints <=, a typo: at l = 1 that would accept everything, yet it reports alpha = 0.75 there.)
/// Two further conditions are those of engines: p(x) >= max p - `delta`, and x is among the target's `top_k`
/// likeliest tokens (0: any). TensorRT-LLM's relaxed acceptance is l = 0 with both (NVIDIA/TensorRT-LLM
/// 000a01d, tensorrt_llm/_torch/speculative/mtp.py, from use_relaxed_acceptance_for_thinking on, and
/// mtpRelaxedAcceptanceKernel).
struct GreedyLenienceRule : ByPosition<GreedyLenienceRule>, NearGreedy {
  static constexpr Correction correction = Correction::best;
  double lenience = 1;
  double delta = 1;
  std::int32_t top_k = 0;

  GreedyLenienceRule() = default;
  SPECLAB_HD explicit GreedyLenienceRule(double l, double below = 1, std::int32_t candidates = 0)
      : lenience(l), delta(below), top_k(candidates) {}

  /// Returns the smallest probability that is accepted, the argmax, and the last of the `top_k` tokens.
  template <class Rows>
  SPECLAB_HD PositionNumbers<typename Rows::Real> numbers(const Rows& rows) const {
    using Real = typename Rows::Real;
    const LikelyToken<Real> best = rows.target_best();
    const LikelyToken<Real> last = top_k > 0 ? rows.target_ranked(top_k) : LikelyToken<Real>{};
    const Real relative = from_decimal<Real>(lenience) * best.probability;
    const Real absolute = best.probability - from_decimal<Real>(delta);
    return {relative > absolute ? relative : absolute, best.token, last.probability, last.token};
  }
  template <class Real>
  SPECLAB_HD Real acceptance_probability(const PositionNumbers<Real>& here, Token token, const Real& p,
                                         const Real&) const {
    const bool ranked = p > here.other || (p == here.other && token <= here.second);
    return here.best >= 0 && p >= here.number && ranked ? Real(1) : Real(0);
  }
};

}  // namespace speclab

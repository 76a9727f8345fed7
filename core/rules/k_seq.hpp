// K-SEQ (Sun et al. 2023, "SpecTr", Algorithm 2): sequential selection among k i.i.d. drafts with one common
// scale rho, which trades acceptance for simplicity against the optimal transport.
#pragma once

#include <cstdint>
#include <span>

#include "core/distribution/number.hpp"
#include "core/rules/recursive.hpp"

namespace speclab {

/// (p - rho_share * min(q, p/rho))+ where it is read.
template <class Real>
struct KSeqResidual {
  using value_type = Real;
  BasicRow<Real> target;
  BasicRow<Real> draft;
  Real rho;
  Real share;
  std::int32_t size;

  Real operator[](Token id) const {
    const Real capped = target[id] / rho;
    const Real difference = target[id] - share * (draft[id] < capped ? draft[id] : capped);
    return difference <= Real(0) ? Real(0) : difference;
  }
};

/// Accept each candidate with min(1, p / (rho q)); when none is, sample p - min(q, p/rho) (1 - (1-beta)^k) /
/// beta with beta = sum min(p/rho, q). Lossless for every rho with 1 - (1-beta)^k <= rho beta; rho* is the
/// smallest of them and accepts most, at least 1 - 1/e of the largest possible (SpecTr, Thm 2).
struct KSeqRule : SeveralPaths {
  using SeveralPaths::SeveralPaths;

  /// rho*, by bisection on [1, k] in double, taken from the side where the rule is lossless. Checked in
  /// `Real`, so that exact arithmetic finds exact losslessness.
  template <class Real>
  static Real scale(BasicRow<Real> target, BasicRow<Real> draft, std::size_t drafts) {
    const auto lossless = [&](const Real& rho) {
      const Real beta = lenient_overlap(target, draft, rho);
      return Real(1) - power_of(Real(Real(1) - beta), drafts) <= rho * beta;
    };
    if (lossless(Real(1))) return Real(1);
    double low = 1;
    auto high = static_cast<double>(drafts);
    for (int step = 0; step < 60 && high - low > 1e-15 * high; ++step) {
      const double middle = low + (high - low) / 2;
      (lossless(Real(middle)) ? high : low) = middle;
    }
    return Real(high);
  }

  /// P(one of `drafts` is accepted) = 1 - (1 - beta(rho*))^drafts.
  template <class Real>
  static Real accepted_probability(BasicRow<Real> target, BasicRow<Real> draft, std::size_t drafts) {
    const Real beta = lenient_overlap(target, draft, scale(target, draft, drafts));
    return Real(1) - power_of(Real(Real(1) - beta), drafts);
  }

  template <class Real, class Random>
  Choice choose(std::span<const Token> candidates, BasicRow<Real> target, BasicRow<Real> draft,
                std::uint16_t slot, Random& random) const {
    const Real rho = scale(target, draft, candidates.size());
    for (std::size_t j = 0; j < candidates.size(); ++j) {
      const Token token = candidates[j];
      const Draw acceptance_draw{Use::accept, static_cast<std::uint16_t>(slot + j)};
      if (random.bernoulli(acceptance_draw, acceptance_ratio(target[token], draft[token], rho)))
        return {token, true};
    }
    const Real beta = lenient_overlap(target, draft, rho);
    const Real share =
        beta > Real(0) ? Real((Real(1) - power_of(Real(Real(1) - beta), candidates.size())) / beta) : Real(0);
    const KSeqResidual<Real> residual{target, draft, rho, share, target.size};
    return {categorical_or(random, Draw{Use::replace, slot}, residual, target), false};
  }
};

}  // namespace speclab

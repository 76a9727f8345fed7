// K-SEQ (Sun et al. 2023, "SpecTr", Algorithm 2): sequential selection among k i.i.d. drafts with one common
// scale rho. It is simpler than the optimal transport, and accepts less.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/distribution/number.hpp"
#include "core/rules/recursive.hpp"

namespace speclab {

/// The row (p - rho_share * min(q, p/rho))+, computed when it is read.
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

/// The sum of min(p, rho q) over two rows, and its derivative in rho: the sum of q where p > rho q.
struct CappedOverlap {
  double sum;
  double slope;
};

/// Returns rho*, the least rho in [1, drafts] with 1 - (1 - beta)^drafts <= rho beta = sum min(p, rho q), up
/// to rounding. `capped(rho)` gives a CappedOverlap. It takes Newton steps, and bisects if a step leaves the
/// interval.
template <class Capped>
double k_seq_scale(std::size_t drafts, const Capped& capped) {
  constexpr double precision = 1e-15;
  const auto k = static_cast<double>(drafts);
  double low = 1;
  double high = k;
  double rho = 1;
  for (int step = 0; step < 60; ++step) {
    const CappedOverlap at = capped(rho);
    const double refused = 1 - at.sum / rho;
    const double power = power_of(refused, drafts - 1);
    const double over = at.sum - (1 - power * refused);
    (over >= 0 ? high : low) = rho;
    if (high - low <= precision * high) break;
    const double slope = at.slope - k * power * (at.slope * rho - at.sum) / (rho * rho);
    double next = rho - over / slope;
    // Newton steps from one side never close the interval, so the last step overshoots the root.
    if (std::abs(next - rho) <= precision * rho) next = rho + (over < 0 ? 2 : -2) * precision * rho;
    rho = low < next && next < high ? next : low + (high - low) / 2;
  }
  return high;
}

/// Accepts each candidate with min(1, p / (rho q)); if none is accepted, samples p - min(q, p/rho) (1 -
/// (1-beta)^k) / beta with beta = sum min(p/rho, q). Lossless for every rho with 1 - (1-beta)^k <= rho beta;
/// rho* is the smallest of them and accepts most, at least 1 - 1/e of the largest possible (SpecTr, Thm 2).
struct KSeqRule : SeveralPaths {
  using SeveralPaths::SeveralPaths;

  /// Returns rho*, computed in double and rounded to the side on which the rule is lossless. It is checked in
  /// `Real`, so that exact arithmetic finds exact losslessness.
  template <class Real>
  static Real scale(BasicRow<Real> target, BasicRow<Real> draft, std::size_t drafts) {
    const auto lossless = [&](const Real& rho) {
      const Real beta = lenient_overlap(target, draft, rho);
      return Real(1) - power_of(Real(Real(1) - beta), drafts) <= rho * beta;
    };
    if (lossless(Real(1))) return Real(1);
    const auto capped = [&](double rho) {
      const auto p = [&](Token id) { return static_cast<double>(target[id]); };
      const auto q = [&](Token id) { return static_cast<double>(draft[id]); };
      return CappedOverlap{
          sum_terms<double>(0, target.size, [&](Token id) { return std::min(p(id), rho * q(id)); }),
          sum_terms<double>(0, target.size, [&](Token id) { return p(id) > rho * q(id) ? q(id) : 0; })};
    };
    const auto largest = static_cast<double>(drafts);
    double rho = k_seq_scale(drafts, capped);
    for (double step = 0x1p-52; rho < largest && !lossless(Real(rho)); step *= 2)
      rho = std::min(largest, rho * (1 + step));
    return Real(rho);
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

// The Gumbel coupling: target and draft each take the argmin of E_k / probability_k over shared exponentials
// E_k (equivalently the argmax of log probability + Gumbel noise), so that the emitted token never depends on
// the draft (Daliri, Musco and Suresh 2024, "Coupling without communication and drafter-invariant speculative
// decoding").
//
// Shared noise is not a finite sequence of independent draws, but the joint distribution of both tokens has a
// closed form. With r_k = p_k / q_k and C(s) = sum_k max(p_k, s q_k), integrating over the two exponentials
// that win gives
//     P(draft i, target j) = q_i p_j (F(r_j) - F(r_i))+   for i != j,   F(s) = integral_0^s dt / C(t)^2,
//     P(draft i, target i) = p_i / C(r_i).
// C is linear between sorted ratios, where the integral from a to b is (b - a) / (C(a) C(b)): rational for
// rational probabilities. Host only: it sorts the row.
#pragma once

#include <array>
#include <cstddef>
#include <utility>
#include <vector>

#include "core/distribution/owned_row.hpp"
#include "core/fast/fast_ratio_order.hpp"
#include "core/rules/by_position.hpp"

namespace speclab {

/// F and C at each token's ratio, for probability rows of equal size.
template <class Real>
class GumbelIntegrals {
 public:
  GumbelIntegrals(BasicRow<Real> target, BasicRow<Real> draft)
      : integral_(std::exchange(kept_memory(0), {})), larger_(std::exchange(kept_memory(1), {})) {
    integral_.assign(static_cast<std::size_t>(target.size), Real(0));
    larger_.assign(integral_.size(), Real(0));
    const std::vector<Token> order = fast_by_ratio(target, draft);  // tokens of infinite ratio come last
    Real slope(0);                                                  // draft probability of ratios up to here
    Real constant = total_probability(target);                      // target probability of ratios beyond
    Real at(0);
    Real value = constant;  // C(at)
    Real integral(0);       // F(at)
    for (std::size_t i = 0; i < order.size(); ++i) {
      const Token id = order[i];
      const ProbabilityRatio<Real> ratio(target[id], draft[id]);
      if (ratio.infinite) {
        // The tail goes from the last finite ratio to infinity. It is infinite if no draft probability lies
        // below, but then no token can have been drafted.
        const Real tail = slope > Real(0) ? Real(integral + Real(1) / (slope * value)) : integral;
        for (; i < order.size(); ++i) {
          const auto here = static_cast<std::size_t>(order[i]);
          integral_[here] = tail;
          // C if the ratio overflows
          if (draft[order[i]] > Real(0)) larger_[here] = target[order[i]] / draft[order[i]];
        }
        break;
      }
      if (ratio.value > at) {
        const Real next = slope * ratio.value + constant;
        integral += (ratio.value - at) / (value * next);
        at = ratio.value;
        value = next;
      }
      slope += draft[id];
      constant -= target[id];
      integral_[static_cast<std::size_t>(id)] = integral;
      larger_[static_cast<std::size_t>(id)] = value;
    }
  }

  GumbelIntegrals(const GumbelIntegrals&) = delete;
  GumbelIntegrals& operator=(const GumbelIntegrals&) = delete;
  ~GumbelIntegrals() {
    kept_memory(0) = std::move(integral_);
    kept_memory(1) = std::move(larger_);
  }

  const Real& integral(Token id) const { return integral_[static_cast<std::size_t>(id)]; }
  /// Returns C at the token's own ratio; only for tokens with draft probability > 0.
  const Real& larger(Token id) const { return larger_[static_cast<std::size_t>(id)]; }

 private:
  /// Memory reused from row to row: for long rows, allocating it would take longer than the passes.
  static std::vector<Real>& kept_memory(std::size_t which) {
    thread_local std::array<std::vector<Real>, 2> kept;
    return kept[which];
  }

  std::vector<Real> integral_;
  std::vector<Real> larger_;
};

/// Lossless. It accepts with sum_i 1 / sum_j max(p_j / p_i, q_j / q_i), at least (1 - TV) / (1 + TV).
struct GumbelRule : BonusFromTarget {
  template <class Real>
  OwnedRow<Real> coupled(Token token, BasicRow<Real> target, BasicRow<Real> draft) const {
    std::vector<Real> weights(target.probabilities, target.probabilities + target.size);
    const Real all = total_probability(target) + total_probability(draft);
    if (!(all - all == Real(0)) || !(draft[token] > Real(0))) {
      for (Token id = 0; id < target.size; ++id) weights[static_cast<std::size_t>(id)] += Real(0) * draft[id];
      return OwnedRow<Real>(std::move(weights));
    }
    const GumbelIntegrals<Real> integrals(target, draft);
    for (Token id = 0; id < target.size; ++id) {
      Real& weight = weights[static_cast<std::size_t>(id)];
      if (id == token) {
        weight = target[id] / (draft[id] * integrals.larger(id));
      } else {
        const Real gap = integrals.integral(id) - integrals.integral(token);
        weight = gap > Real(0) ? Real(weight * gap) : Real(0);
      }
    }
    return OwnedRow<Real>(std::move(weights));
  }

  template <class Real>
  Real acceptance_rate(BasicRow<Real> target, BasicRow<Real> draft) const {
    const Real all = total_probability(target) + total_probability(draft);
    if (!(all - all == Real(0))) return all;
    const GumbelIntegrals<Real> integrals(target, draft);
    return sum_terms<Real>(0, target.size, [&](Token id) {
      return target[id] > Real(0) && draft[id] > Real(0) ? Real(target[id] / integrals.larger(id)) : Real(0);
    });
  }
};

}  // namespace speclab

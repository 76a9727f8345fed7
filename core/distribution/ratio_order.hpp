// Orders tokens by target over draft. In this order, rules for several drafts and couplings have closed
// forms. Host only.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "core/distribution/number.hpp"
#include "core/distribution/row.hpp"

namespace speclab {

/// The ratio target / draft of one token, comparable. It is infinite if the draft's probability is 0, or so
/// small that the ratio overflows.
template <class Real>
struct ProbabilityRatio {
  bool infinite;
  Real value;

  ProbabilityRatio(const Real& target, const Real& draft)
      : infinite(!(draft > Real(0))), value(infinite ? Real(0) : Real(target / draft)) {
    if (value - value == Real(0)) return;
    infinite = true;
    value = Real(0);
  }

  bool operator<(const ProbabilityRatio& other) const {
    return infinite != other.infinite ? other.infinite : value < other.value;
  }
};

/// Returns the ids that have positive probability in either row, by ascending ratio. Equal ratios are ordered
/// by descending id.
template <class Real>
std::vector<Token> by_ratio(BasicRow<Real> target, BasicRow<Real> draft) {
  std::vector<ProbabilityRatio<Real>> ratios;
  ratios.reserve(static_cast<std::size_t>(target.size));
  std::vector<Token> order;
  for (Token id = 0; id < target.size; ++id) {
    ratios.emplace_back(target[id], draft[id]);
    if (target[id] > Real(0) || draft[id] > Real(0)) order.push_back(id);
  }
  std::sort(order.begin(), order.end(), [&](Token a, Token b) {
    const auto& left = ratios[static_cast<std::size_t>(a)];
    const auto& right = ratios[static_cast<std::size_t>(b)];
    if (left < right) return true;
    return !(right < left) && a > b;
  });
  return order;
}

/// Returns the largest probability with which any lossless rule can accept one of `drafts` i.i.d. tokens of
/// the draft: the optimal transport bound 1 + min over sets S of p(S) - q(S)^k, whose minimum is at a prefix
/// of the ratio order (Sun et al. 2023, "SpecTr"; Khisti et al. 2024). `drafts` >= 1; for 1 it is the
/// overlap.
template <class Real>
Real optimal_transport_acceptance(BasicRow<Real> target, BasicRow<Real> draft, std::int32_t drafts) {
  Real least(0);
  Real p(0);
  Real q(0);
  for (const Token id : by_ratio(target, draft)) {
    p += target[id];
    q += draft[id];
    const Real gap = p - power_of(q, static_cast<std::size_t>(drafts));
    if (gap < least) least = gap;
  }
  return Real(1) + least;
}

}  // namespace speclab

// AdaEDL (Agrawal et al. 2024): the entropy H of the draft's row bounds its acceptance from below, roughly,
// by 1 - sqrt(kappa H). The policy drafts while the bound is high enough.
#pragma once

#include <cmath>

#include "sim/policies/policy.hpp"

namespace speclab {

/// Returns the entropy in nats, in double for any arithmetic of the row.
template <class Real>
double entropy(BasicRow<Real> row) {
  return -sum_terms<double>(0, row.size, [&](Token id) {
    const auto probability = static_cast<double>(row[id]);
    return probability > 0 ? probability * std::log(probability) : 0.0;
  });
}

/// Stops after a token if the bound for its row lies below `least`; that token is still verified.
struct AdaEdlPolicy : Forgetful {
  double kappa;
  double least;
  std::int32_t cap;

  AdaEdlPolicy(double factor, double bound, std::int32_t largest)
      : kappa(factor), least(bound), cap(largest) {}

  std::int32_t most() const { return cap; }
  template <class Real>
  bool goes_on(Memory&, std::int32_t drafted, const LastDrafted<Real>& last) const {
    return drafted == 0 || 1 - std::sqrt(kappa * entropy(last.row)) >= least;
  }
};

}  // namespace speclab

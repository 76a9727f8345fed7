// Policies that always go on.
#pragma once

#include "sim/policies/policy.hpp"

namespace speclab {

/// Drafts the same number of tokens in every round (Leviathan et al. 2023, Algorithm 1).
struct FixedPolicy : Forgetful {
  std::int32_t gamma;

  explicit FixedPolicy(std::int32_t tokens) : gamma(tokens) {}

  std::int32_t most() const { return gamma; }
  template <class Real>
  bool goes_on(Memory&, std::int32_t, const LastDrafted<Real>&) const {
    return true;
  }
};

/// The upper bound on every policy: it knows how many of the next `gamma` tokens will be accepted, and drafts
/// exactly those (the oracle of Leviathan et al. 2023, section 3.4). The simulator drafts far ahead and
/// counts only the accepted tokens. "Drafting paid" includes the time of the runs that draft these tokens,
/// "drafting free" does not; both time the same rounds.
struct UpperBoundPolicy : FixedPolicy {
  using FixedPolicy::FixedPolicy;

  bool foresees() const { return true; }
};

}  // namespace speclab

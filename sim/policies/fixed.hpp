// Drafts the same number of tokens in every round (Leviathan et al. 2023, Algorithm 1).
#pragma once

#include "sim/policies/policy.hpp"

namespace speclab {

struct FixedPolicy : Forgetful {
  std::int32_t gamma;

  explicit FixedPolicy(std::int32_t tokens) : gamma(tokens) {}

  std::int32_t most() const { return gamma; }
  template <class Real>
  bool goes_on(Memory&, std::int32_t, const LastDrafted<Real>&) const {
    return true;
  }
};

}  // namespace speclab

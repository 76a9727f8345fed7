// The upper bound on every policy: it knows how many of the next tokens will be accepted, and drafts exactly
// those (the oracle of Leviathan et al. 2023, section 3.4). The simulator drafts far ahead and counts only
// the accepted tokens. "Drafting paid" includes the time of the runs that draft these tokens, "drafting free"
// does not; both time the same rounds.
#pragma once

#include "sim/policies/policy.hpp"

namespace speclab {

struct UpperBoundPolicy : Forgetful {
  std::int32_t cap;  ///< number of tokens ahead that it knows

  explicit UpperBoundPolicy(std::int32_t farthest) : cap(farthest) {}

  std::int32_t most() const { return cap; }
  template <class Real>
  bool goes_on(Memory&, std::int32_t, const LastDrafted<Real>&) const {
    return true;
  }
  bool foresees() const { return true; }
};

}  // namespace speclab

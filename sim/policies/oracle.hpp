// The bound on every policy: an oracle that knows how many of the tokens to come will be accepted, and drafts
// exactly those (Leviathan et al. 2023, section 3.4). No program can; the simulator can, by drafting far and
// charging only for what was accepted. Charged, it pays for what it drafts; uncharged, it drafts for free:
// both are times of the same rounds.
#pragma once

#include "sim/policies/policy.hpp"

namespace speclab {

struct OraclePolicy : Forgetful {
  std::int32_t cap;  ///< sees this far

  explicit OraclePolicy(std::int32_t farthest) : cap(farthest) {}

  std::int32_t most() const { return cap; }
  template <class Real>
  bool goes_on(Memory&, std::int32_t, const LastDrafted<Real>&) const {
    return true;
  }
  bool foresees() const { return true; }
  /// The round as the oracle would have played it, given the draft runs that its accepted tokens take.
  static Round foreseen(Round round, std::int32_t runs_of_kept) {
    round.drafted = round.examined = round.accepted;
    round.draft_runs = runs_of_kept;
    return round;
  }
};

}  // namespace speclab

// Drafts two more tokens after a round that accepted everything, one fewer after any other: the schedule
// "heuristic" of Hugging Face's assisted generation (num_assistant_tokens_schedule).
#pragma once

#include <algorithm>

#include "sim/policies/policy.hpp"

namespace speclab {

struct HeuristicPolicy {
  std::int32_t start;
  std::int32_t cap;

  struct Memory {
    std::int32_t gamma = 0;  ///< 0: not yet chosen
  };

  HeuristicPolicy(std::int32_t first, std::int32_t largest) : start(first), cap(largest) {}

  std::int32_t most() const { return cap; }
  template <class Real>
  bool goes_on(Memory& memory, std::int32_t drafted, const LastDrafted<Real>&) const {
    return drafted < current(memory);
  }
  /// Adapts gamma, unless the drafter proposed fewer tokens than requested.
  void learn(Memory& memory, const Round& round) const {
    const std::int32_t gamma = current(memory);
    if (round.accepted < round.drafted) {
      memory.gamma = std::max(1, gamma - 1);
    } else if (round.drafted >= gamma) {
      memory.gamma = std::min(cap, gamma + 2);
    }
  }

 private:
  std::int32_t current(const Memory& memory) const {
    return std::min(cap, memory.gamma == 0 ? start : memory.gamma);
  }
};

}  // namespace speclab

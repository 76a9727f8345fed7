// SpecDec++ (Huang et al. 2024): drafts while the probability that some token drafted so far is rejected
// stays below a threshold. The paper predicts acceptance by a trained head; this version by the acceptance
// frequency of earlier tokens of similar draft probability.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "sim/policies/policy.hpp"

namespace speclab {

struct SpecDecPpPolicy {
  double risk;
  std::int32_t cap;

  static constexpr std::size_t buckets = 16;

  struct Memory {
    std::array<std::int64_t, buckets> examined{};
    std::array<std::int64_t, buckets> accepted{};
    std::vector<std::size_t> round;  ///< buckets of the tokens drafted in this round
    double all_accepted = 1;         ///< predicted probability that all of them are accepted
  };

  SpecDecPpPolicy(double largest_risk, std::int32_t largest) : risk(largest_risk), cap(largest) {}

  std::int32_t most() const { return cap; }

  template <class Real>
  bool goes_on(Memory& memory, std::int32_t drafted, const LastDrafted<Real>& last) const {
    if (drafted == 0) {
      memory.round.clear();
      memory.all_accepted = 1;
      return true;
    }
    memory.round.push_back(bucket(static_cast<double>(last.row[last.token])));
    memory.all_accepted *= predicted(memory, memory.round.back());
    return 1 - memory.all_accepted <= risk;
  }

  void learn(Memory& memory, const Round& round) const {
    // If the cap or the drafter ended the round, the policy has not seen the last drafted token.
    const auto known = std::min(static_cast<std::size_t>(round.examined), memory.round.size());
    for (std::size_t i = 0; i < known; ++i) {
      ++memory.examined[memory.round[i]];
      if (i < static_cast<std::size_t>(round.accepted)) ++memory.accepted[memory.round[i]];
    }
  }

 private:
  /// Returns the bucket by the probability's binary exponent: the last bucket holds everything below 2^-15.
  static std::size_t bucket(double probability) {
    return probability > 0
               ? std::min<std::size_t>(buckets - 1,
                                       static_cast<std::size_t>(-std::log2(std::min(1.0, probability))))
               : buckets - 1;
  }
  /// Returns the frequency in bucket `at` by Laplace's rule of succession, starting from two accepted
  /// pseudo-observations, so that a new policy continues drafting.
  static double predicted(const Memory& memory, std::size_t at) {
    return static_cast<double>(memory.accepted[at] + 2) / static_cast<double>(memory.examined[at] + 2);
  }
};

}  // namespace speclab

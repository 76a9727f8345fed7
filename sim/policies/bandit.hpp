// A bandit whose arms are the gammas and whose reward is tokens per time: upper confidence bounds (UCB1, Auer
// et al. 2002; for speculative decoding Hou et al. 2025, "BanditSpec"). The time of a round is fixed for each
// gamma, so that the mean of its rewards is its speedup.
#pragma once

#include <cmath>
#include <vector>

#include "sim/policies/policy.hpp"

namespace speclab {

/// Arms are 1 to the cap. If a drafter has nothing to propose, the arm counts as untried.
struct BanditPolicy {
  RoundTimes time;
  std::int32_t cap;
  double width;  ///< width of the bounds, in units of the largest reward; UCB1 has sqrt(2)

  struct Memory {
    std::vector<std::int64_t> plays;
    std::vector<double> rewards;
    std::int64_t total = 0;
    std::int32_t gamma = 1;
  };

  BanditPolicy(RoundTimes times, std::int32_t largest, double bound_width)
      : time(std::move(times)), cap(largest), width(bound_width) {}

  std::int32_t most() const { return cap; }
  template <class Real>
  bool goes_on(Memory& memory, std::int32_t drafted, const LastDrafted<Real>&) const {
    return drafted < memory.gamma;
  }
  void learn(Memory& memory, const Round& round) const {
    if (round.drafted == 0) return;
    memory.plays.resize(static_cast<std::size_t>(cap));
    memory.rewards.resize(static_cast<std::size_t>(cap));
    const auto arm = static_cast<std::size_t>(memory.gamma - 1);
    ++memory.plays[arm];
    ++memory.total;
    memory.rewards[arm] += (round.accepted + 1) / time(round.drafted);
    double best = -1;
    for (std::size_t i = 0; i < memory.plays.size(); ++i) {
      const double bound = upper_bound(memory, i);
      if (bound > best) {
        best = bound;
        memory.gamma = static_cast<std::int32_t>(i) + 1;
      }
    }
  }

 private:
  double upper_bound(const Memory& memory, std::size_t arm) const {
    const auto gamma = static_cast<std::int32_t>(arm) + 1;
    const double largest = (gamma + 1) / time(gamma);
    const auto plays = static_cast<double>(memory.plays[arm]);
    // Untried arms come first, in order: their bound is above every other.
    if (plays == 0) return 1e300;
    return memory.rewards[arm] / plays +
           width * largest * std::sqrt(std::log(static_cast<double>(memory.total)) / plays);
  }
};

}  // namespace speclab

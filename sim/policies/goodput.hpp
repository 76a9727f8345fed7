// Chooses the gamma with the most expected tokens per time, from the acceptance rates by position observed so
// far (SmartSpec, Liu et al. 2024): argmax over k of (1 + sum over i <= k of a_1 ... a_i) / time(k).
#pragma once

#include <numeric>
#include <utility>
#include <vector>

#include "sim/policies/policy.hpp"

namespace speclab {

struct GoodputPolicy {
  RoundTimes time;
  std::int32_t cap;

  static constexpr double prior = 16;

  struct Memory {
    std::vector<std::int64_t> examined;  ///< by position
    std::vector<std::int64_t> accepted;
    std::int32_t gamma = -1;  ///< gamma of this round; below 0: not yet chosen
  };

  GoodputPolicy(RoundTimes times, std::int32_t largest) : time(std::move(times)), cap(largest) {}

  std::int32_t most() const { return cap; }
  template <class Real>
  bool goes_on(Memory& memory, std::int32_t drafted, const LastDrafted<Real>&) const {
    if (memory.gamma < 0) choose(memory);
    return drafted < memory.gamma;
  }
  void learn(Memory& memory, const Round& round) const {
    const auto reached = static_cast<std::size_t>(round.examined);
    if (memory.examined.size() < reached) {
      memory.examined.resize(reached);
      memory.accepted.resize(reached);
    }
    for (std::size_t i = 0; i < reached; ++i) ++memory.examined[i];
    for (std::size_t i = 0; i < static_cast<std::size_t>(round.accepted); ++i) ++memory.accepted[i];
    choose(memory);
  }

 private:
  /// Chooses gamma. Each position's rate starts from `prior` pseudo-observations at the common rate of all
  /// positions, so that rarely reached positions do not end the draft by chance; the common rate starts from
  /// two, one accepted. At least one token is drafted: a policy that stopped drafting would never learn that
  /// it was wrong.
  void choose(Memory& memory) const {
    double reach = 1;
    double tokens = 1;
    double best = 0;
    const auto sum = [](const std::vector<std::int64_t>& counts) {
      return static_cast<double>(std::accumulate(counts.begin(), counts.end(), std::int64_t{0}));
    };
    const double overall = (sum(memory.accepted) + 1) / (sum(memory.examined) + 2);
    for (std::int32_t k = 1; k <= cap; ++k) {
      const auto at = static_cast<std::size_t>(k - 1);
      const bool reached = at < memory.examined.size();
      const double accepted = reached ? static_cast<double>(memory.accepted[at]) : 0;
      const double examined = reached ? static_cast<double>(memory.examined[at]) : 0;
      reach *= (accepted + prior * overall) / (examined + prior);
      tokens += reach;
      if (tokens / time(k) > best) {
        best = tokens / time(k);
        memory.gamma = k;
      }
    }
    if (cap < 1) memory.gamma = 0;
  }
};

}  // namespace speclab

// Computes where the rounds of a recorded text begin, by the definition, over any arithmetic. expected_rounds
// is faster.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace speclab {

/// Returns the probability that a round starts at each of `length` positions, given the text.
/// `survival(start, k)` is P(at least k drafted tokens are accepted | a round starts there, text) for k =
/// 0..gamma, with start + k <= length. A round that accepts k < gamma tokens emits one more, the correction;
/// one that accepts all gamma emits one more, the bonus. The sum of the returned values is the expected
/// number of target runs that emit the text; the last of them may also emit tokens beyond its end.
template <class Real, class Survival>
std::vector<Real> round_starts(std::size_t length, std::size_t gamma, const Survival& survival) {
  std::vector<Real> starts(length + 1, Real(0));
  starts[0] = Real(1);
  for (std::size_t start = 0; start < length; ++start) {
    for (std::size_t accepted = 0; accepted <= gamma && start + accepted < length; ++accepted) {
      const Real exactly = accepted < gamma ? survival(start, accepted) - survival(start, accepted + 1)
                                            : survival(start, accepted);
      starts[start + accepted + 1] += starts[start] * exactly;
    }
  }
  starts.pop_back();
  return starts;
}

/// Returns the survival of token verification: `keep(depth, position)` is P(kept | y), for depth = 0..gamma -
/// 1 in the round.
template <class Real, class Keep>
auto token_survival(const Keep& keep) {
  return [keep](std::size_t start, std::size_t accepted) {
    Real product(1);
    for (std::size_t i = 0; i < accepted; ++i) product = product * keep(i, start + i);
    return product;
  };
}

/// Returns the survival of block verification (Sun et al. 2024, "Block verification accelerates speculative
/// decoding", Algorithm 2): with w_k = min(1, w_{k-1} p_k/q_k), w_0 = 1, along the drafted tokens, at least k
/// of them are accepted with probability w_k given the drafted ones up to k; so P(at least k accepted | text)
/// is w_k times the product of q_i/p_i, i = 1..k. `ratio(position)` is q(y)/p(y).
template <class Real, class Ratio>
auto block_survival(const Ratio& ratio) {
  return [ratio](std::size_t start, std::size_t accepted) {
    Real survived(1);
    Real weight(1);
    for (std::size_t i = 0; i < accepted; ++i) {
      const Real here = ratio(start + i);
      // Computes w_{k-1} q/p * min(1, ...) without a division by q: min(w_{k-1}, q/p) * (product so far) /
      // w_{k-1}.
      const Real least = std::min(weight, here);
      survived = weight == Real(0) ? Real(0) : Real(survived / weight * least);
      weight = here <= weight ? Real(1) : Real(weight / here);
    }
    return survived;
  };
}

}  // namespace speclab

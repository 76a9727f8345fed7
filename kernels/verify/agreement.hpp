// Compares an implementation's decisions with the reference's.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "kernels/verify/implementation.hpp"
#include "kernels/verify/reference.hpp"

namespace speclab {

/// Kernels in single precision may decide differently from the reference within this distance of an edge: for
/// sums of 32 terms in a row, logits up to 20, and powers of two that are right to 2 units.
inline constexpr double decision_band = 1e-5;

/// Counts of requests by their agreement with the reference.
struct DecisionAgreement {
  int requests = 0;
  int within_band = 0;  ///< the reference was so close to an edge that either decision is right
  int different = 0;    ///< decided differently, outside the band

  DecisionAgreement& operator+=(const DecisionAgreement& other) {
    requests += other.requests;
    within_band += other.within_band;
    different += other.different;
    return *this;
  }
};

/// Counts verdicts, of requests or trees; `same(i)` tells whether a decision is that of verdict i.
template <class Verdict, class Same>
DecisionAgreement agreement_of(const std::vector<Verdict>& expected, double band, const Same& same) {
  DecisionAgreement found{static_cast<int>(expected.size()), 0, 0};
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (expected[i].margin < band) {
      ++found.within_band;
    } else if (!same(i)) {
      ++found.different;
    }
  }
  return found;
}

/// Returns the implementation's reference: the rule's, or that of the sigmoid approximation.
inline std::vector<ReferenceDecision> reference_of(Implementation implementation, const VerifyBatch& batch) {
  return implementation == Implementation::wagner_sigmoid ? verify_sigmoid_reference(batch)
                                                          : verify_reference(batch);
}

/// Returns the band of an implementation. The sigmoid approximation's probabilities add up to about the
/// vocabulary's size, so that its band grows with it.
inline double band_of(Implementation implementation, std::int32_t vocab) {
  return implementation == Implementation::wagner_sigmoid ? 1e-6 + 4e-7 * vocab : decision_band;
}

inline DecisionAgreement agreement_with(const std::vector<ReferenceDecision>& expected,
                                        Implementation implementation, std::int32_t vocab,
                                        const std::int32_t* accepted, const Token* next) {
  return agreement_of(expected, band_of(implementation, vocab), [&](std::size_t i) {
    return accepted[i] == expected[i].accepted && next[i] == expected[i].next;
  });
}

/// Chooses some requests of a large batch for a slow reference: the first, the last, and others in equal
/// steps between them; `most` requests, or all if there are fewer.
inline std::vector<std::int32_t> spread_requests(std::int32_t requests, std::int32_t most) {
  std::vector<std::int32_t> chosen;
  const std::int32_t count = std::min(requests, most);
  for (std::int32_t i = 0; i < count; ++i) {
    chosen.push_back(count == 1 ? 0
                                : static_cast<std::int32_t>(std::int64_t{i} * (requests - 1) / (count - 1)));
  }
  return chosen;
}

}  // namespace speclab

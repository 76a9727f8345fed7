// Drafts while the draft's probabilities are high enough.
#pragma once

#include "sim/policies/policy.hpp"

namespace speclab {

/// The probability that counts as confidence.
enum class Confidence {
  top,   ///< the row's largest probability
  drawn  ///< the drawn token's probability, as in Hugging Face's assistant_confidence_threshold
};

/// Stops after a token whose row was not confident; that token is still verified.
struct ConfidencePolicy : Forgetful {
  double threshold;
  Confidence of;
  std::int32_t cap;

  ConfidencePolicy(double least, Confidence whose, std::int32_t largest)
      : threshold(least), of(whose), cap(largest) {}

  std::int32_t most() const { return cap; }
  template <class Real>
  bool goes_on(Memory&, std::int32_t drafted, const LastDrafted<Real>& last) const {
    if (drafted == 0) return true;
    const Token token = of == Confidence::drawn ? last.token : argmax(last.row);
    return static_cast<double>(last.row[token]) >= threshold;
  }
};

}  // namespace speclab

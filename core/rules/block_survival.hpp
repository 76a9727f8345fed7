// Block verification (Sun et al. 2024) seen from the emitted text: given that a round's next tokens are y_1
// y_2 ..., it computes the probability that the first k of them were drafted and accepted.
#pragma once

#include <algorithm>

namespace speclab {

/// With w_0 = 1 and r_k = q(y_k)/p(y_k): P(k accepted | text) = P(k - 1 accepted | text) min(1, r_k /
/// w_{k-1}), and w_k = 1 where r_k <= w_{k-1}, else w_{k-1} / r_k. Checked by enumeration in fractions
/// (tests/analysis/recorded/expected_rounds_test).
struct BlockSurvival {
  double kept = 1;
  double weight = 1;

  void next(double ratio) {
    kept = weight > 0 ? kept * std::min(1.0, ratio / weight) : 0;
    weight = ratio <= weight ? 1 : weight / ratio;
  }
};

}  // namespace speclab

// Runs fused verification in the emulator and compares with the reference.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "tests/kernels/verify/verify_comparison.hpp"

namespace speclab {

/// Single precision's error of a probability or a weight, with a margin: for sums of 32 terms in a row,
/// logits up to 20, and exp2f and expm1f right to 2 units.
inline constexpr double band = 1e-5;

inline std::uint64_t run_fused_on(LogitBatch& logits, simt::Order order = simt::Order::forward) {
  std::fill(logits.next.begin(), logits.next.end(), -7);
  return run_emulated(Implementation::fused, logits.batch, order);
}

/// Runs the batch and compares the results.
inline Comparison compare(LogitBatch& logits, double width = band) {
  run_fused_on(logits);
  return compare(logits, verify_reference(logits.batch), width);
}

/// Returns ln of every row's sum of exponentials.
inline std::vector<float> log_sums(LogitBatch& logits, bool of_target) {
  const std::int32_t positions = logits.batch.gamma + (of_target ? 1 : 0);
  std::vector<float> sums;
  for (std::int32_t request = 0; request < logits.batch.requests; ++request) {
    for (std::int32_t i = 0; i < positions; ++i) {
      double sum = 0;
      for (Token id = 0; id < logits.batch.vocab; ++id) {
        const float logit =
            of_target ? logits.target_logit(request, i, id) : logits.draft_logit(request, i, id);
        sum += std::exp(static_cast<double>(
            logits.batch.target.dtype == Dtype::bf16 ? to_float(from_float<Bf16>(logit)) : logit));
      }
      sums.push_back(static_cast<float>(std::log(sum)));
    }
  }
  return sums;
}

}  // namespace speclab

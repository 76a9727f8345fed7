// Defines top-k, top-p and min-p, and which ids of a target row they keep.
//
// The order is that of Hugging Face's generation and of `Adjustment` (core/distribution/transforms.hpp): the
// row is divided by the temperature; the top_k largest logits stay; of those, the fewest likeliest ids that
// have the share top_p of their probability; of those, the ids with at least min_p of the likeliest id's
// probability. vLLM applies min-p first; top-p then takes its share of a smaller sum and may keep fewer ids.
// Each of the three is a threshold, so that ids as likely as the last one kept are kept. Hugging Face's and
// vLLM's top-k do the same, but their top-p, and `Adjustment`, break ties by the place in a sorted row.
// Temperature 0 keeps the largest logits, whatever the three are.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/verify/verify_batch.hpp"

namespace speclab {

struct Filters {
  /// 0, or at least the vocabulary's size, keeps all ids.
  std::int32_t top_k = 0;
  double top_p = 1;  ///< in (0, 1]
  double min_p = 0;  ///< in [0, 1]

  /// Returns whether the three are in range; NaN is not. If they are not, their row is invalid.
  SPECLAB_HD bool valid() const { return top_k >= 0 && top_p > 0 && top_p <= 1 && min_p >= 0 && min_p <= 1; }
  bool operator==(const Filters&) const = default;
};

SPECLAB_HD inline Filters filters_of(const VerifyBatch& batch, std::int64_t request, std::int32_t position) {
  const std::int32_t positions = batch.gamma + 1;
  Filters filters;
  if (batch.top_k != nullptr) filters.top_k = *batch.top_k.at(request, position, positions);
  if (batch.top_p != nullptr)
    filters.top_p = static_cast<double>(*batch.top_p.at(request, position, positions));
  if (batch.min_p != nullptr)
    filters.min_p = static_cast<double>(*batch.min_p.at(request, position, positions));
  return filters;
}

/// The definition of what is kept, in double: logits from `least` on. `margin` is the distance of the row
/// from keeping another set, in probability (top-p) or relative to the bound (min-p). Single precision may
/// find another set if the margin is below its error.
struct KeptLogits {
  double least;
  double margin = 1;
};

/// Returns what is kept of a row with a finite largest logit and without NaN; temperature > 0, filters valid.
/// Host only.
KeptLogits kept_logits(const std::vector<double>& logits, double temperature, const Filters& filters);

}  // namespace speclab

// Whether a row is a distribution.
#pragma once

#include "core/distribution/row.hpp"

namespace speclab::python {

/// A row of probabilities may miss 1 by so much, as sums of 2^17 floats do; logits and weights miss it by
/// more.
inline constexpr double row_tolerance = 1e-3;

/// What is wrong with a row, as the end of a sentence; null when it is a distribution.
template <class Scalar>
const char* fault_of(BasicRow<Scalar> row) {
  const double total = sum_terms<double>(0, row.size, [row](std::int32_t i) { return row[i]; });
  const double size =
      sum_terms<double>(0, row.size, [row](std::int32_t i) { return row[i] < 0 ? -row[i] : row[i]; });
  if (!(total - total == 0)) return "holds NaN or infinity";
  if (size > total) return "holds a number below 0; probabilities are expected, not logits";
  if (!(total >= 1 - row_tolerance && total <= 1 + row_tolerance))
    return "does not sum to 1; probabilities are expected";
  return nullptr;
}

}  // namespace speclab::python

// Checks whether a row is a distribution.
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>

#include "core/distribution/row.hpp"
#include "experiments/catalog/models/model_kind.hpp"

namespace speclab::python {

/// Returns the fault of a row, as the end of a sentence; null if it is a distribution, within row_tolerance.
/// Reads the row once.
template <class Number>
const char* fault_of(BasicRow<Number> row) {
  const Eigen::Map<const Eigen::Array<Number, Eigen::Dynamic, 1>> numbers(row.probabilities, row.size);
  constexpr Eigen::Index part = 1024;  // summed in Number, whose rounding then stays below 2e-5
  double total = 0;
  Number least = 0;
  for (Eigen::Index begin = 0; begin < numbers.size(); begin += part) {
    const auto some = numbers.segment(begin, std::min(part, numbers.size() - begin));
    total += static_cast<double>(some.sum());
    least = std::min(least, some.minCoeff());
  }
  if (!std::isfinite(total)) return "holds NaN or infinity";
  if (least < 0) return "holds a number below 0; probabilities are expected, not logits";
  return std::abs(total - 1) <= row_tolerance ? nullptr : "does not sum to 1; probabilities are expected";
}

}  // namespace speclab::python

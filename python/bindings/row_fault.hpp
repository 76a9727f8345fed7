// Whether a row is a distribution.
#pragma once

#include "core/distribution/row.hpp"

namespace speclab::python {

/// A row of probabilities may miss 1 by so much, as sums of 2^17 floats do; logits and weights miss it by
/// more.
inline constexpr double row_tolerance = 1e-3;

/// What is wrong with a row, as the end of a sentence; null when it is a distribution. Reads the row once.
const char* fault_of(BasicRow<float> row);
const char* fault_of(BasicRow<double> row);

}  // namespace speclab::python

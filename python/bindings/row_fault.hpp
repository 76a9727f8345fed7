// Whether a row is a distribution.
#pragma once

#include "core/distribution/row.hpp"
#include "experiments/verify/prove/proof_task.hpp"

namespace speclab::python {

/// What is wrong with a row, as the end of a sentence; null when it is a distribution, to row_tolerance.
/// Reads the row once.
const char* fault_of(BasicRow<float> row);
const char* fault_of(BasicRow<double> row);

}  // namespace speclab::python

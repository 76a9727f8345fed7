// Checks whether a row is a distribution.
#pragma once

#include "core/distribution/row.hpp"
#include "experiments/verify/prove/proof_task.hpp"

namespace speclab::python {

/// Returns the fault of a row, as the end of a sentence; null if it is a distribution, within row_tolerance.
/// Reads the row once.
const char* fault_of(BasicRow<float> row);
const char* fault_of(BasicRow<double> row);

}  // namespace speclab::python

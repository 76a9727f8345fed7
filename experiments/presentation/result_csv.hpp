// results.csv of experiments whose cells are metrics.
#pragma once

#include <string>

#include "experiments/run/result.hpp"

namespace speclab {

/// One row a cell, every number in full: label, what the cell sets, printed, formula and simulated values of
/// every metric with intervals, the verdict.
std::string result_csv(const Result& result);

}  // namespace speclab

// results.csv of experiments whose cells are metrics.
#pragma once

#include <functional>
#include <string>

#include "experiments/run/result.hpp"

namespace speclab {

/// One row per cell of `cells`, every number in full, with the columns of ResultRows and between them
/// printed, formula and simulated values of every metric with intervals, what "measured" of the cases says
/// and why that differs, the verdict. Handed over in pieces;
/// goes through the cells twice.
void write_csv(const Result& result, const CellSource& cells,
               const std::function<void(const std::string& piece)>& out);

}  // namespace speclab

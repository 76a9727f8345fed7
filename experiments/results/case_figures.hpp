// Figures of results without a sweep.
#pragma once

#include <vector>

#include "experiments/page/figure.hpp"
#include "experiments/run/result.hpp"

namespace speclab {

/// Of a lone cell its acceptance by position, where it was simulated. Else one row per cell: what was
/// printed, computed and simulated, for each of the first metrics shown.
std::vector<Figure> case_figures(const Result& result);

}  // namespace speclab

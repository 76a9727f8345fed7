// Figures of `speclab bench kernels`.
#pragma once

#include <vector>

#include "experiments/format/shape.hpp"
#include "experiments/report/figure.hpp"

namespace speclab {

/// For each cache mode a roofline (GB/s over bytes moved, one series a method) and times over the number of
/// requests along the sweep's axis; those that would be empty are left out.
std::vector<Figure> kernel_figures(const Json& result);

}  // namespace speclab

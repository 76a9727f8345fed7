// Figures of sweeps: curves, and heat maps.
#pragma once

#include <vector>

#include "experiments/page/figure.hpp"
#include "experiments/run/result.hpp"

namespace speclab {

/// The figures that the config asks for; for a sweep without any, curves or a heat map over its axes.
std::vector<Figure> sweep_figures(const Result& result);

}  // namespace speclab

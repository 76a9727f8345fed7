// Figures of sweeps: curves, and heat maps.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "experiments/page/figure.hpp"
#include "experiments/run/result.hpp"

namespace speclab {

/// The path that a config sweeps, when it sweeps one alone.
std::optional<std::string> swept_path(const Config& config);

/// The figures that the config asks for; for a sweep without any, curves or a heat map over its axes.
std::vector<Figure> sweep_figures(const Result& result);

}  // namespace speclab

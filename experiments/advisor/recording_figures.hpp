// The page of `speclab plan recording`: what it found in a sentence, and figures.
#pragma once

#include <string>
#include <vector>

#include "experiments/advisor/recording_plan.hpp"
#include "experiments/page/figure.hpp"

namespace speclab {

std::string recording_headline(const RecordingPlan& plan);
/// Speedup by gamma, and acceptance by position at the best gamma.
std::vector<Figure> recording_figures(const RecordingPlan& plan);

}  // namespace speclab

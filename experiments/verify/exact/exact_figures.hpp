// The page of `speclab exact`: what it found in a sentence, and figures.
#pragma once

#include <string>
#include <vector>

#include "experiments/base/page/figure.hpp"
#include "experiments/verify/exact/exact_result.hpp"

namespace speclab {

std::string exact_headline(const ExactResult& result);
/// Of each closed class the speedup by gamma and the distribution of tokens per target step.
std::vector<Figure> exact_figures(const ExactResult& result);

}  // namespace speclab

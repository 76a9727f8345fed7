// The headline and figures on the page of `speclab exact`.
#pragma once

#include <string>
#include <vector>

#include "experiments/base/page/figure.hpp"
#include "experiments/verify/exact/exact_result.hpp"

namespace speclab {

std::string exact_headline(const ExactResult& result);
/// Returns, for each closed class, figures of the speedup by gamma and of the distribution of tokens per
/// target step.
std::vector<Figure> exact_figures(const ExactResult& result);

}  // namespace speclab

// Headline and figure for the page of `speclab check`.
#pragma once

#include <string>
#include <vector>

#include "experiments/base/page/figure.hpp"
#include "experiments/verify/check/equality_test.hpp"

namespace speclab {

std::string equality_headline(const EqualityResult& result);
/// Returns a figure of each test's adjusted p-value beside the level.
std::vector<Figure> equality_figures(const EqualityResult& result);

}  // namespace speclab

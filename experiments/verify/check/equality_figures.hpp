// The page of `speclab check`: what it found in a sentence, and its figure.
#pragma once

#include <string>
#include <vector>

#include "experiments/base/page/figure.hpp"
#include "experiments/verify/check/equality_test.hpp"

namespace speclab {

std::string equality_headline(const EqualityResult& result);
/// The adjusted p-value of each test beside the level.
std::vector<Figure> equality_figures(const EqualityResult& result);

}  // namespace speclab

// What was found, in a sentence.
#pragma once

#include <string>

#include "experiments/run/result.hpp"

namespace speclab {

/// Verdicts and agreement with the formula; then the estimate of a lone cell, or the range of several.
std::string result_headline(const Result& result);

}  // namespace speclab

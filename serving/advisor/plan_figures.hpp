// The page of `speclab plan`: the finding in a sentence, and figures.
#pragma once

#include <string>
#include <vector>

#include "experiments/base/page/figure.hpp"
#include "serving/advisor/plan_result.hpp"

namespace speclab {

std::string plan_headline(const DrafterPlan& plan);
/// Speedup by gamma; by batch where costs depend on it; acceptance by position of a log.
std::vector<Figure> plan_figures(const DrafterPlan& plan);

std::string ranking_headline(const DrafterRanking& ranking);
/// Speedup by gamma of every drafter.
std::vector<Figure> ranking_figures(const DrafterRanking& ranking);

}  // namespace speclab

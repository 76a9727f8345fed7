// The page of `speclab plan`: what it found in a sentence, and figures.
#pragma once

#include <string>
#include <vector>

#include "experiments/advisor/config_plan.hpp"
#include "experiments/advisor/planning.hpp"
#include "experiments/page/figure.hpp"

namespace speclab {

std::string plan_headline(const DrafterPlan& plan);
/// Speedup by gamma; by batch where costs depend on it; acceptance by position of a log.
std::vector<Figure> plan_figures(const DrafterPlan& plan);

std::string ranking_headline(const DrafterRanking& ranking);
/// Speedup by gamma of every drafter.
std::vector<Figure> ranking_figures(const DrafterRanking& ranking);

std::string comparison_headline(const ChoiceComparison& comparison);
/// Speedup at each case's gamma and at the best.
std::vector<Figure> comparison_figures(const ChoiceComparison& comparison);

}  // namespace speclab

// Shows a plan: words, tables, figures, and a sentence for its page.
#pragma once

#include <string>
#include <vector>

#include "experiments/base/page/figure.hpp"
#include "experiments/base/page/table.hpp"
#include "serving/advisor/plan_result.hpp"

namespace speclab {

std::string settings_text(const std::vector<ServerSetting>& settings);
/// Returns sentences, one per line, that say at which batches speculation pays, with the best gamma for each
/// batch and with one fixed gamma. The plan must have `batches`.
std::string batch_sentences(const DrafterPlan& plan);

Listing plan_text(const DrafterPlan& plan);
std::string plan_headline(const DrafterPlan& plan);
/// Draws the speedup by gamma; by batch, if costs depend on it; and acceptance by position, if there is a
/// log.
std::vector<Figure> plan_figures(const DrafterPlan& plan);

Listing ranking_text(const DrafterRanking& ranking);
std::string ranking_headline(const DrafterRanking& ranking);
/// Draws the speedup by gamma for every drafter.
std::vector<Figure> ranking_figures(const DrafterRanking& ranking);

}  // namespace speclab

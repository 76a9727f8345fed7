// How a plan is shown: words, tables, figures, and a sentence for its page.
#pragma once

#include <string>
#include <vector>

#include "experiments/base/page/figure.hpp"
#include "experiments/base/page/table.hpp"
#include "serving/advisor/plan_result.hpp"

namespace speclab {

std::string settings_text(const std::vector<ServerSetting>& settings);
/// At which batches it pays, with the best gamma of each and with one gamma at all: sentences, one a line.
/// The plan has `batches`.
std::string batch_sentences(const DrafterPlan& plan);

Listing plan_text(const DrafterPlan& plan);
std::string plan_headline(const DrafterPlan& plan);
/// Speedup by gamma; by batch where costs depend on it; acceptance by position of a log.
std::vector<Figure> plan_figures(const DrafterPlan& plan);

Listing ranking_text(const DrafterRanking& ranking);
std::string ranking_headline(const DrafterRanking& ranking);
/// Speedup by gamma of every drafter.
std::vector<Figure> ranking_figures(const DrafterRanking& ranking);

}  // namespace speclab

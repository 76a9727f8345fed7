// The words and tables of `speclab plan`.
#pragma once

#include <string>
#include <vector>

#include "experiments/base/page/table.hpp"
#include "serving/advisor/plan_result.hpp"

namespace speclab {

std::string settings_text(const std::vector<ServerSetting>& settings);
/// At which batches it pays, with the best gamma of each and with one gamma at all: sentences, one a line.
/// The plan has `batches`.
std::string batch_sentences(const DrafterPlan& plan);

Listing plan_text(const DrafterPlan& plan);
Listing ranking_text(const DrafterRanking& ranking);

}  // namespace speclab

// Shows a plan: text, tables, figures, and its page's headline.
#pragma once

#include <string>
#include <vector>

#include "experiments/base/page/figure.hpp"
#include "experiments/base/page/table.hpp"
#include "serving/advisor/plan_result.hpp"

namespace speclab {

std::string settings_text(const std::vector<ServerSetting>& settings);
/// Returns lines that say at which batches speculation pays, with the best gamma per batch and with one fixed
/// gamma. The plan must have `batches`.
std::string batch_sentences(const DrafterPlan& plan);

Listing plan_text(const DrafterPlan& plan);
std::string plan_headline(const DrafterPlan& plan);
/// Returns figures of the speedup by gamma, by batch if costs depend on it, and of a log's positions.
std::vector<Figure> plan_figures(const DrafterPlan& plan);

}  // namespace speclab

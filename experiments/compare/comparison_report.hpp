// The pages of a comparison: every drafter on every task, speeds by policy and by gamma.
#pragma once

#include <string>
#include <vector>

#include "experiments/format/shape.hpp"
#include "experiments/report/figure.hpp"
#include "experiments/report/page.hpp"

namespace speclab {

/// Tables of a whole result of the experiment "compare", their ids starting with `id`.
std::vector<Table> comparison_tables(const Json& result, const std::string& id);

/// One row for every drafter, task and policy, fixed gammas among them, every number in full.
std::string comparison_csv(const Json& result);

/// Speeds of every drafter at its best gamma, by task; and for each task speeds by policy.
std::vector<Figure> comparison_figures(const Json& result);

}  // namespace speclab

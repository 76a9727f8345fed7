// The pages of the experiment "compare": every drafter on every task, speedups by policy and by gamma.
#pragma once

#include <string>
#include <vector>

#include "experiments/report/figure.hpp"
#include "experiments/report/page.hpp"
#include "experiments/run/result.hpp"

namespace speclab {

/// Tables of a whole result, their ids starting with `id`.
std::vector<Table> compare_tables(const Result& result, const std::string& id);

/// One row for every drafter, task and policy, fixed gammas among them, every number in full.
std::string compare_csv(const Result& result);

/// Speedups of every drafter at its best gamma, by task; and for each task speedups by policy.
std::vector<Figure> compare_figures(const Result& result);

}  // namespace speclab

// What cells of decoding found, beside their formulas: the experiments decode, iid, acceptance, optimal_gamma
// and predict.
#pragma once

#include <vector>

#include "analysis/statistics/estimates.hpp"
#include "experiments/format/cells.hpp"
#include "experiments/simulation.hpp"

namespace speclab {

/// Comparisons with formulas in one cell that are not functions of one another.
inline constexpr int independent_judgements = 3;

CostRatios cost_of(const Json& config);

/// predict: closed forms at the config's alpha.
void describe_prediction(Json& out, const CellSpec& spec);

/// decode, iid and acceptance.
void describe_decoding(Json& out, const CellSpec& spec, const Job& job, double confidence);

/// optimal_gamma: the simulated speed curve over gamma (jobs[gamma - 1]), its argmax, and how far the
/// formula's choice is from it.
void describe_optimum(Json& out, const CellSpec& spec, double alpha, const std::vector<Job*>& jobs,
                      double confidence);

}  // namespace speclab

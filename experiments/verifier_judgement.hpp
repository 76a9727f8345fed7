// The experiment "verifiers": one rule a cell, all judged by the same numbers on the same pair of models.
#pragma once

#include <vector>

#include "analysis/statistics/estimates.hpp"
#include "experiments/format/shape.hpp"
#include "experiments/registry.hpp"
#include "experiments/report/figure.hpp"
#include "sim/rule_quality.hpp"

namespace speclab {

/// Numbers of one judged cell that are not functions of one another: what "simultaneous" widens for.
inline constexpr int judged_numbers = 7;

/// How the rule of a resolved config is judged.
RuleQualityOptions judging_of(const Setup& setup, const Json& config);

/// Adds to `out`: "drafts" (at the first position), "lossless", "simulated", "positions", "counts"; for a
/// lossless rule also "proved", the names of the simulated numbers that are proved, and, where the config
/// asks for a witness, "witness": the result of `speclab check` on the same config ("partial" when that was
/// stopped).
void describe_judgement(Json& out, const Setup& setup, const Outcome& outcome, const Json& config,
                        const CostRatios& cost, double confidence, const Control& control);

/// Whether this cell runs `speclab check` after its simulation.
bool wants_witness(const Setup& setup, const Json& config);

/// First acceptance of every rule, beside the optimum for as many drafts. Rules of few drafts first, then by
/// acceptance.
Figure rules_figure(const Json& cells);

/// What the columns mean, in a few sentences.
std::string judgement_note();

}  // namespace speclab

// Single rounds, and real time: what is looked at rather than averaged.
#pragma once

#include <string>

#include "analysis/statistics/estimates.hpp"
#include "experiments/format/shape.hpp"
#include "experiments/registry.hpp"

namespace speclab {

/// Both need a verifier of one drafted sequence. Throws ConfigError for the others.
void require_one_draft(const AnyRule& rule, const std::string& experiment);

/// Rounds of one sequence for each gamma of the trace section: drafted tokens as text, how many were
/// accepted, the token that followed; and the totals of runs and virtual time.
Json trace_rounds(const Setup& setup, const Json& trace, const CostRatios& cost);

/// Measured walltime of the slowed target, with Thm 3.8's prediction at the measured c and acceptance.
Json time_walltime(const Setup& setup, int gamma, const Json& walltime, const std::string& label);

}  // namespace speclab

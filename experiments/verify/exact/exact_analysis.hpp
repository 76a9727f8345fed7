// `speclab exact`: computes the exact behaviour of speculative decoding of models with context, and compares
// it with the i.i.d. formulas and a simulation.
#pragma once

#include "experiments/verify/exact/exact_result.hpp"

namespace speclab {

struct ExactTimings {
  double chain_seconds = 0;
  double rounds_seconds = 0;      ///< for the config's gamma
  double search_seconds = 0;      ///< for the other gammas
  double simulation_seconds = 0;  ///< includes the expected tokens over the simulated rounds
};

struct ExactAnalysis {
  ExactResult result;  ///< depends only on the config
  ExactTimings timings;
};

/// Analyses the config's models and rule as a Markov chain over contexts, each closed class separately, and
/// simulates them if `simulate`.
///
/// Throws ConfigError for a config that cannot be analysed: a sweep or cases, a model without bounded memory,
/// a rule that does not decide position by position, too many contexts or transitions.
ExactAnalysis analyse_exactly(const Config& config, bool simulate);

}  // namespace speclab

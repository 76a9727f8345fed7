// `speclab exact`: what speculative decoding of models with context does exactly, compared with the i.i.d.
// formulas and a simulation.
#pragma once

#include "experiments/verify/exact/exact_result.hpp"

namespace speclab {

struct ExactTimings {
  double chain_seconds = 0;
  double rounds_seconds = 0;      ///< of the config's gamma
  double search_seconds = 0;      ///< of the other gammas
  double simulation_seconds = 0;  ///< and of the expected tokens over its rounds
};

struct ExactAnalysis {
  ExactResult result;  ///< depends on the config alone
  ExactTimings timings;
};

/// Analyses the config's models and rule as a Markov chain over contexts, each closed class by itself, and
/// simulates when asked to.
///
/// Throws ConfigError for a config that cannot be analysed: a sweep or cases, a model without bounded memory,
/// a rule that does not decide position by position, too many contexts or transitions.
ExactAnalysis analyse_exactly(const Config& config, bool simulate);

}  // namespace speclab

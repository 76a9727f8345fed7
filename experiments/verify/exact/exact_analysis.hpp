// `speclab exact`: computes how speculative decoding behaves with models that have context, exactly, and
// compares with the i.i.d. formulas and a simulation.
#pragma once

#include "experiments/verify/exact/exact_result.hpp"

namespace speclab {

struct ExactTimings {
  double chain_seconds = 0;
  double rounds_seconds = 0;      ///< for the config's gamma
  double search_seconds = 0;      ///< for the other gammas
  double simulation_seconds = 0;  ///< includes computing expected tokens over the simulated rounds
};

struct ExactAnalysis {
  ExactResult result;  ///< depends only on the config
  ExactTimings timings;
};

/// Analyses the config's models and rule as a Markov chain over contexts, each closed class (contexts that
/// decoding never leaves) separately; also simulates them if `simulate`. Throws ConfigError for a sweep or
/// cases, a model without bounded memory, a rule that does not decide position by position, too many contexts
/// or transitions.
ExactAnalysis analyse_exactly(const Config& config, bool simulate);

}  // namespace speclab

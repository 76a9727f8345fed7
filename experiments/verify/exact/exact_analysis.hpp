// `speclab exact`: computes how speculative decoding behaves with models that have context, exactly, and
// compares with the i.i.d. formulas and a simulation.
#pragma once

#include "experiments/verify/exact/exact_result.hpp"

namespace speclab {

/// Analyses the config's models and rule as a Markov chain over contexts, each closed class separately, and
/// simulates them if `simulate`.
///
/// Throws ConfigError for a config that cannot be analysed: a sweep or cases, a model without bounded memory,
/// a rule that does not decide position by position, too many contexts or transitions.
ExactResult analyse_exactly(const Config& config, bool simulate);

}  // namespace speclab

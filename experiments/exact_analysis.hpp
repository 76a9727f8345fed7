// `speclab exact`: what speculative decoding of models with context does exactly, beside the i.i.d. formulas
// and a simulation.
#pragma once

#include "experiments/laboratory.hpp"

namespace speclab {

/// `result` holds the resolved config, the size of the chain, and for each closed class of contexts (one, as
/// a rule; at most the first eight) the objects
///     iid         closed forms of Leviathan et al. 2023 at alpha under the target's own stationary
///     distribution exact       the same quantities of the chain over contexts
///     (analysis/exact/chain_distributions.hpp) lag1        tokens per round by the lag-1 model at the exact
///     first acceptance and correlation simulated   [estimate, low, high] from the config's plan, when asked
///     for iid_error_percent
/// Quantities without a value are null or left out. `timings` holds seconds.
///
/// Throws ConfigError for a config that cannot be analysed: a sweep or cases, a model without bounded memory,
/// a verifier that does not decide position by position, too many contexts or transitions.
Findings analyse_exactly(const Json& config, bool simulate);

/// The table of one class and the remarks below it, for people.
std::string exact_text(const Json& result);

}  // namespace speclab

// The set-up of a config whose models are recorded.
#pragma once

#include <optional>

#include "experiments/run/setup.hpp"

namespace speclab {

/// Nothing when neither model is recorded. Trials start at positions spread evenly over the text, which goes
/// on from one sequence to the next and from the last to the first. Throws ConfigError for whatever does not
/// follow from two columns: another rule than token verification, sampling options, other drafts, prompts,
/// experiments that look at rows or tokens.
std::optional<Setup> recorded_setup(const ConfigReader& config, ModelFactory& factory);

}  // namespace speclab

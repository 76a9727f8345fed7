// Decides which keys of a config its experiment reads. The others are refused, and results leave them out, so
// that no key is ignored in silence.
#pragma once

#include <string>

#include "experiments/base/format/json.hpp"

namespace speclab {

struct Config;
struct Experiment;

/// Returns whether an experiment reads this key, or part of it: "simulation", "simulation/trials". `models`
/// tells whether the config has models; a verb may then read its own section.
bool reads_key(const Experiment& experiment, const std::string& key, bool models = true);

/// Returns whether at least one cell has models.
bool has_models(const Config& config);

/// Returns the part of a config, written as JSON, that the experiment reads.
Json read_part(const Experiment& experiment, Json config, bool models);

/// Throws ConfigError for a key of `input`, the config as written, or one that its cases or its sweep set, if
/// the experiment does not read it; and for measured values of cases that it does not show.
void require_read_keys(const Config& config, const Json& input);

}  // namespace speclab

// Takes the acceptance and the cost of a plan from the models of a config.
#pragma once

#include <optional>

#include "serving/advisor/planning.hpp"
#include "sim/control.hpp"

namespace speclab {

struct Config;

struct ConfigCase {
  Acceptance acceptance;
  double c = 0;
};

/// Returns the case of a config without its sweep over /gamma, because gamma is the unknown. alpha is the
/// config's own (predict, iid) or that of its models if they have one exact alpha. Otherwise rounds of the
/// config's simulation are decoded, with at least 8 drafted tokens so that positions are examined, and alpha
/// is accepted / examined with an interval over batches. Throws ConfigError, also for several cells. Returns
/// nothing when `control` stopped the work.
std::optional<ConfigCase> config_case(const Config& whole, double confidence, const Control& control);

}  // namespace speclab

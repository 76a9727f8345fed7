// A config with "cases" or "sweep" stands for many: its cells, each a complete config.
#pragma once

#include <string>
#include <vector>

#include "experiments/run/experiment.hpp"

namespace speclab {

/// Cases times the Cartesian product of the sweep, the last axis fastest; one cell when there is neither.
/// `config` comes from read_config. Throws ConfigError, also when there are more than a million cells.
std::vector<CellSpec> expand(const Config& config);

/// The values of one sweep axis: a list, or {"from", "to", "step"} or {"from", "to", "count"}.
std::vector<Json> axis_values(const Json& axis, const std::string& path);

}  // namespace speclab

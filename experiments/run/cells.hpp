// A config with "cases" or "sweep" stands for many: its cells, each a complete config.
#pragma once

#include <string>
#include <vector>

#include "experiments/run/experiment.hpp"

namespace speclab {

/// Cases times the Cartesian product of the sweep, the last axis fastest; one cell when there is neither.
/// `input` is the JSON that `config` was read from. Throws ConfigError, also when there are more than a
/// million cells.
std::vector<CellSpec> expand(const Config& config, const Json& input);

/// The values of one sweep axis: a list, or {"from", "to", "step"} or {"from", "to", "count"}.
std::vector<Json> axis_values(const Json& axis, const std::string& path);

}  // namespace speclab

// A config with "cases" or "sweep" stands for many: its cells, each a complete config.
#pragma once

#include <string>
#include <vector>

#include "experiments/format/shape.hpp"

namespace speclab {

struct CellSpec {
  std::string label;
  Json set;       ///< values by path, as given by the case and the sweep
  Json printed;   ///< printed values by metric
  Json measured;  ///< printed measurements, not judged
  std::string note;
  Json config;  ///< resolved, without cases, sweep, figures
};

/// Cases times the Cartesian product of the sweep, the last axis fastest; one cell when there is neither.
/// Throws ConfigError, also when there are more than a million cells.
std::vector<CellSpec> expand(const Json& resolved, const Json& input);

/// The values of one sweep axis: a list, or {"from", "to", "step"} or {"from", "to", "count", "log"}.
std::vector<Json> axis_values(const Json& axis, const std::string& path);

}  // namespace speclab

// One cell of a config's grid.
#pragma once

#include "experiments/config/config.hpp"

namespace speclab {

/// Its own config, and what stands beside it in tables.
struct CellSpec : CaseConfig {
  Config config;
};

}  // namespace speclab

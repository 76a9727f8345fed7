// One cell of a config's grid.
#pragma once

#include "experiments/config/config.hpp"

namespace speclab {

/// The config of a cell, and the case that tables show beside it.
struct CellSpec : CaseConfig {
  Config config;
};

}  // namespace speclab

// One cell of a config's grid.
#pragma once

#include "experiments/config/config.hpp"

namespace speclab {

/// The config of a cell, and its row of printed values.
struct CellSpec : CaseConfig {
  Config config;
};

}  // namespace speclab

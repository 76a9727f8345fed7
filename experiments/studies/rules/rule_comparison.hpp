// The experiment "rules": one rule a cell, all measured with the same random numbers on the same pair of
// models.
#pragma once

#include <cstdint>
#include <optional>

#include "experiments/verify/check/equality_test.hpp"

namespace speclab {

/// What a cell has beside its metrics.
struct RuleComparison {
  std::int32_t drafts = 0;  ///< at the first position of a round
  bool lossless = false;    ///< expected, and held to by `speclab prove --all`
  std::optional<EqualityResult> equality_test;
};

}  // namespace speclab

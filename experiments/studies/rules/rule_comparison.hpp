// The experiment "rules": each cell measures one rule, with the same pair of models and random numbers.
#pragma once

#include <cstdint>
#include <optional>

#include "experiments/verify/check/equality_test.hpp"

namespace speclab {

/// A cell's results besides its metrics.
struct RuleComparison {
  std::int32_t drafts = 0;  ///< drafts at the first position of a round
  bool lossless = false;    ///< expected to be lossless, which `speclab prove --all` checks
  std::optional<EqualityResult> equality_test;
};

}  // namespace speclab

// The experiment "rules": one rule a cell, all measured with the same random numbers on the same pair of
// models.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "experiments/check/equality_test.hpp"
#include "experiments/report/figure.hpp"
#include "experiments/run/result.hpp"

namespace speclab {

/// What a cell has beside its metrics.
struct RuleComparison {
  std::int32_t drafts = 0;  ///< at the first position of a round
  bool lossless = false;    ///< expected, and held to by `speclab prove --all`
  std::optional<EqualityResult> equality_test;
};

/// First-token acceptance of every rule, beside the optimal transport bound for as many drafts. Rules of few
/// drafts first, then by acceptance.
Figure rules_figure(const std::vector<CellResult>& cells);

}  // namespace speclab

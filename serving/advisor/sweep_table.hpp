// Reads the table of `speclab plan sweep`.
#pragma once

#include <string>
#include <vector>

#include "serving/advisor/sweep_plan.hpp"

namespace speclab {

struct SweepRow {
  std::string sweep;  ///< value of the column `by`; empty without one
  SweepPoint point;
};

struct SweepRows {
  std::vector<SweepRow> rows;
  bool by_length = false;  ///< the table has accepted lengths
};

/// Reads a table of CSV, Markdown, or words with tabs or two blanks between them. K 0 (also "off",
/// "baseline", "plain") decodes without drafts. An acceptance is accepted / drafted tokens, 0.72 or 72%, in
/// rounds that draft K tokens: a step emits 1 + K times it. A length counts the correction or bonus. The time
/// per output token of a sequence (TPOT, in ms) may replace tokens a second. Throws UsageError.
SweepRows read_sweep_table(const SweepQuestion& asked);

}  // namespace speclab

// Estimates acceptance rates and rounds of a recording, with intervals over its independent parts.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/recorded/expected_rounds.hpp"
#include "analysis/recorded/recording.hpp"
#include "analysis/statistics/intervals.hpp"

namespace speclab {

/// With fewer sequences than this, intervals are over spans of text instead of sequences.
inline constexpr std::size_t min_sequences = 8;
inline constexpr std::size_t stretches_of_few = 20;

/// The units that an interval treats as independent: sequences; or, if there are fewer than
/// `min_sequences`, 20 spans of equal length ("stretches"), if correlations are much shorter than a span.
struct IntervalUnits {
  std::vector<Stretch> stretches;
  bool whole_sequences = false;
};
IntervalUnits interval_units(std::span<const RecordedSequence> sequences);

/// Returns the interval of a ratio of sums, with an entry of both vectors for each unit (see
/// bounded_ratio_interval). It is cut to the support. The bounds are infinite if there are too few tokens for
/// stretches, or if neighbouring stretches are correlated (at level 0.05), hence too short.
Interval unit_interval(const IntervalUnits& units, std::span<const double> numerators,
                       std::span<const double> denominators, const Support& support, double confidence,
                       std::optional<LargestDenominators> largest = {});

/// Returns tokens per target step for rounds of `gamma` drafted tokens; `rounds` is their number in each
/// unit.
Interval tokens_per_round(const IntervalUnits& units, std::span<const double> rounds, std::size_t gamma,
                          double confidence);

/// Returns the mean of `values` over the units, one value for each token of the recording, each from 0 to 1.
Interval mean_over_units(const IntervalUnits& units, std::span<const double> values, double confidence);

/// Returns alpha of these sequences: the mean of min(1, q/p), or of the rows' overlaps, which vary less, if
/// there are rows.
Interval recorded_alpha(const Recording& recording, std::span<const RecordedSequence> sequences,
                        double confidence);

struct TaskSequences {
  std::string task;
  std::vector<RecordedSequence> sequences;
};
/// Groups sequences by task, in the order of first appearance.
std::vector<TaskSequences> by_task(const Recording& recording);

}  // namespace speclab

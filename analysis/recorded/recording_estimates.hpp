// Acceptance rates and rounds of a recording, with intervals over what is independent in it.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/recorded/expected_rounds.hpp"
#include "analysis/recorded/recording.hpp"
#include "analysis/statistics/intervals.hpp"

namespace speclab {

/// Fewer sequences than these are cut into stretches for intervals.
inline constexpr std::size_t least_sequences = 8;
inline constexpr std::size_t stretches_of_few = 20;

/// What an interval compares: whole sequences, which are independent; or, of fewer than `least_sequences`,
/// 20 stretches of equal length, which are so where the text forgets within a small part of one.
struct IntervalUnits {
  std::vector<Stretch> stretches;
  bool whole_sequences = false;
};
IntervalUnits interval_units(std::span<const RecordedSequence> sequences);

/// Ratio of sums, with an entry of both vectors for each unit; see bounded_ratio_interval. It lies in the
/// support, though bounds of a ratio of means might not. With infinite bounds where there are too few tokens
/// for stretches, or where neighbouring stretches resemble each other (at level 0.05): then they are too
/// short.
Interval unit_interval(const IntervalUnits& units, std::span<const double> numerators,
                       std::span<const double> denominators, const Support& support, double confidence,
                       std::optional<LargestDenominators> largest = {});

/// Tokens for each target step of rounds of `gamma` drafted tokens, whose number in each unit is given.
Interval tokens_per_round(const IntervalUnits& units, std::span<const double> rounds, std::size_t gamma,
                          double confidence);

/// The mean of `values` in the units, one value for each token of the recording, each from 0 to 1.
Interval mean_over_units(const IntervalUnits& units, std::span<const double> values, double confidence);

/// alpha of these sequences: the mean of min(1, q/p), or of the rows' overlaps where there are rows, which
/// varies less.
Interval recorded_alpha(const Recording& recording, std::span<const RecordedSequence> sequences,
                        double confidence);

/// Sequences of one task.
struct TaskSequences {
  std::string task;
  std::vector<RecordedSequence> sequences;
};
/// By task, in the order of first appearance.
std::vector<TaskSequences> by_task(const Recording& recording);

}  // namespace speclab

#include "analysis/recorded/recording_estimates.hpp"

#include <algorithm>
#include <numeric>
#include <unordered_map>

#include "analysis/statistics/acceptance_log.hpp"
#include "core/stop.hpp"

namespace speclab {

IntervalUnits interval_units(std::span<const RecordedSequence> sequences) {
  IntervalUnits units;
  units.whole_sequences = sequences.size() >= min_sequences;
  if (units.whole_sequences) {
    for (const RecordedSequence& one : sequences)
      units.stretches.push_back({one.first, one.first + one.count});
    return units;
  }
  std::size_t tokens = 0;
  for (const RecordedSequence& one : sequences) tokens += one.count;
  // Each sequence gets stretches in proportion to its length, at least one.
  for (const RecordedSequence& one : sequences) {
    const std::size_t wanted =
        std::clamp<std::size_t>((stretches_of_few * one.count + tokens / 2) / tokens, 1, one.count);
    for (std::size_t i = 0; i < wanted; ++i) {
      units.stretches.push_back(
          {one.first + one.count * i / wanted, one.first + one.count * (i + 1) / wanted});
    }
  }
  return units;
}

Interval unit_interval(const IntervalUnits& units, std::span<const double> numerators,
                       std::span<const double> denominators, const Support& support, double confidence,
                       std::optional<LargestDenominators> largest) {
  const auto interval = bounded_ratio_interval(numerators, denominators, support, confidence, largest);
  if (!interval) return unbounded(0);
  if (units.whole_sequences) return *interval;
  constexpr double min_tokens = 2;  // in a stretch, on average
  const std::size_t tokens = units.stretches.empty() ? 0 : [&] {
    std::size_t sum = 0;
    for (const Stretch& one : units.stretches) sum += one.last - one.first;
    return sum;
  }();
  const bool few = units.stretches.size() < stretches_of_few / 2 ||
                   static_cast<double>(tokens) < min_tokens * static_cast<double>(units.stretches.size());
  if (few || neighbours_alike(numerators, denominators, interval->estimate))
    return unbounded(interval->estimate);
  return *interval;
}

Interval tokens_per_round(const IntervalUnits& units, std::span<const double> rounds, std::size_t gamma,
                          double confidence) {
  std::vector<double> tokens;
  for (const Stretch& one : units.stretches) tokens.push_back(static_cast<double>(one.last - one.first));
  const Support support{1, static_cast<double>(gamma) + 1};
  const double longest = *std::max_element(tokens.begin(), tokens.end());
  return unit_interval(units, tokens, rounds, support, confidence,
                       LargestDenominators{longest / support.low, longest / support.high});
}

Interval mean_over_units(const IntervalUnits& units, std::span<const double> values, double confidence) {
  std::vector<double> sums;
  std::vector<double> counts;
  for (const Stretch& one : units.stretches) {
    const auto part = values.subspan(one.first, one.last - one.first);
    sums.push_back(std::accumulate(part.begin(), part.end(), 0.0));
    counts.push_back(static_cast<double>(part.size()));
  }
  return unit_interval(units, sums, counts, {0, 1}, confidence);
}

Interval recorded_alpha(const Recording& recording, std::span<const RecordedSequence> sequences,
                        double confidence) {
  const IntervalUnits units = interval_units(sequences);
  if (!recording.rows.empty()) return mean_over_units(units, recording.rows.overlap, confidence);
  return mean_over_units(units, keep_probabilities(recording), confidence);
}

std::vector<TaskSequences> by_task(const Recording& recording) {
  std::vector<TaskSequences> tasks;
  std::unordered_map<std::string, std::size_t> index;
  StopCounter now_and_then(1 << 10);
  for (const RecordedSequence& sequence : recording.sequences) {
    now_and_then.step();
    const auto [found, is_new] = index.emplace(sequence.task, tasks.size());
    if (is_new) tasks.push_back({sequence.task, {}});
    tasks[found->second].sequences.push_back(sequence);
  }
  return tasks;
}

}  // namespace speclab

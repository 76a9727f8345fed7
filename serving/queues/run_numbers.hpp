// What the requests of a simulated run saw, and intervals over independent runs.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "analysis/statistics/intervals.hpp"
#include "serving/server/serving.hpp"

namespace speclab {

/// What requests must keep; of one that is not given every request keeps it.
struct LoadTargets {
  std::optional<double> ttft_ms;
  std::optional<double> tpot_ms;

  bool any() const { return ttft_ms || tpot_ms; }
};

/// Of the requests of one run, in milliseconds.
struct Latencies {
  double mean = 0;
  double median = 0;
  double high = 0;       ///< at the percentile that is asked for
  double deviation = 0;  ///< standard deviation between requests
};

struct RunNumbers {
  Latencies latency;  ///< arrival to last token
  Latencies ttft;     ///< arrival to first token
  Latencies tpot;     ///< first token to last over the tokens after the first; of requests with more than one
  double gap_mean = 0;  ///< between emissions of a request: a round's tokens are one emission
  double gap_high = 0;
  double kept = 0;  ///< share of requests that keep the targets
  double window_ms = 0;
  double requests = 0;  ///< that were measured
  double asked = 0;     ///< output tokens of these
  StepTotals totals;

  double tokens_per_second() const { return 1000 * static_cast<double>(totals.emitted) / window_ms; }
};

/// `percentile` in (0, 100): the smallest value that so many percent of requests do not exceed.
RunNumbers numbers_of(const ServingRun& run, double percentile, const LoadTargets& targets);

/// Mean over runs, with Student's t.
template <class Value>
Interval over_runs(std::span<const RunNumbers> runs, double confidence, const Value& value) {
  std::vector<double> numbers;
  for (const RunNumbers& run : runs) numbers.push_back(value(run));
  const std::vector<double> ones(numbers.size(), 1);
  return *ratio_interval(numbers, ones, confidence);
}

/// Mean of the differences, first less second, of runs that belong together pair by pair. Empty where runs
/// do not differ enough to tell.
template <class Value>
std::optional<Interval> difference_over_runs(std::span<const RunNumbers> first,
                                             std::span<const RunNumbers> second, double confidence,
                                             const Value& value) {
  std::vector<double> ours;
  std::vector<double> theirs;
  for (const RunNumbers& run : first) ours.push_back(value(run));
  for (const RunNumbers& run : second) theirs.push_back(value(run));
  const std::vector<double> ones(ours.size(), 1);
  return paired_difference({ours, ones}, {theirs, ones}, confidence);
}

}  // namespace speclab

// Latencies and shares over the requests of a simulated run, and intervals over independent runs.
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <vector>

#include "analysis/statistics/intervals.hpp"
#include "serving/server/serving.hpp"

namespace speclab {

/// Latency targets (service-level objectives). Every request meets a target that is not given.
struct LoadTargets {
  std::optional<double> ttft_ms;
  std::optional<double> tpot_ms;

  bool any() const { return ttft_ms || tpot_ms; }
};

/// Milliseconds, over the requests of one run.
struct Latencies {
  double mean = 0;
  double median = 0;
  double high = 0;       ///< at the requested percentile
  double deviation = 0;  ///< standard deviation across requests
};

struct RunNumbers {
  Latencies latency;  ///< arrival to last token
  Latencies ttft;     ///< arrival to first token
  /// From first token to last, divided by the tokens after the first; over requests of several tokens.
  Latencies tpot;
  double gap_mean = 0;  ///< time between a request's emissions; a round emits its tokens at once
  double gap_high = 0;
  double kept = 0;  ///< share of requests that meet the targets
  double window_ms = 0;
  double requests = 0;  ///< measured requests
  double asked = 0;     ///< their output tokens
  StepTotals totals;

  double tokens_per_second() const { return 1000 * static_cast<double>(totals.emitted) / window_ms; }
};

/// Computes a run's numbers. The value at `percentile`, in (0, 100), is the least that this percentage does
/// not exceed.
RunNumbers numbers_of(const ServingRun& run, double percentile, const LoadTargets& targets);

/// Returns the mean over runs of values from 0 to `most`, with an interval by Student's t, cut to this range.
template <class Value>
Interval over_runs(std::span<const RunNumbers> runs, double confidence, const Value& value,
                   double most = HUGE_VAL) {
  std::vector<double> numbers;
  for (const RunNumbers& run : runs) numbers.push_back(value(run));
  const std::vector<double> ones(numbers.size(), 1);
  Interval mean = *ratio_interval(numbers, ones, confidence);
  if (mean.bounded()) mean = {mean.estimate, std::max(mean.low, 0.0), std::min(mean.high, most)};
  return mean;
}

/// Returns the mean of first minus second over pairs of runs; empty if runs differ too little to tell.
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

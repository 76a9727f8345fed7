#include "analysis/recorded/text_fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

#include "analysis/recorded/recording_estimates.hpp"
#include "core/stop.hpp"

namespace speclab {

namespace {

/// Number of ratios above B, from which the tail is extrapolated: one in 50, within these limits.
constexpr std::size_t fewest_above = 25;
constexpr std::size_t max_above = 100;
/// Tolerance, in nats, for entropies of rows in half precision.
constexpr double surprise_rounding = 1e-3;
/// The estimated exponent of q/p's tail is lowered by this many of its standard errors.
constexpr double tail_errors = 2.5;

/// Returns the largest value over time of the mean of the products, as a logarithm.
double log_supermartingale(const std::vector<double>& ratios) {
  constexpr std::array<double, 6> weights{0.5, 0.2, 0.05, 0.01, 0.002, 0.0004};
  std::array<double, weights.size()> logs{};
  double largest = 0;
  StopCounter now_and_then(1 << 10);
  for (const double ratio : ratios) {
    now_and_then.step();
    double top = -1e300;
    for (std::size_t i = 0; i < weights.size(); ++i) {
      logs[i] += std::log1p(weights[i] * (ratio - 1));
      top = std::max(top, logs[i]);
    }
    // The mean is at least the largest product divided by their number.
    largest = std::max(largest, top - std::log(static_cast<double>(weights.size())));
  }
  return largest;
}

struct Tail {
  double bound = 1;      // B
  double allowance = 0;  // bound on E[max(0, q/p - B)], the part of the mean beyond min(q/p, B)
  bool known = false;
};

/// Estimates the exponent of the largest ratios by Hill (1975): P(q/p > x) ~ x^-exponent, so that the mean
/// excess over B is P(q/p > B) B / (exponent - 1).
Tail tail_of(std::vector<double> ratios) {
  const std::size_t above = std::clamp(ratios.size() / 50, fewest_above, max_above);
  if (ratios.size() < 10 * fewest_above) return {};
  const auto begin = ratios.begin();
  const auto bound_at = begin + static_cast<std::ptrdiff_t>(above);
  std::nth_element(begin, bound_at, ratios.end(), std::greater<>());
  const double bound = *bound_at;
  if (!(bound > 0)) return {};
  double logs = 0;
  double excess = 0;
  for (auto ratio = begin; ratio != bound_at; ++ratio) {
    logs += std::log(*ratio / bound);
    excess += *ratio - bound;
  }
  const auto k = static_cast<double>(above);
  const auto n = static_cast<double>(ratios.size());
  if (logs <= 0) return {bound, 0, true};  // no ratio exceeds B
  const double exponent = k / logs * (1 - tail_errors / std::sqrt(k));
  if (exponent <= 1) return {bound, 0, false};
  return {bound, std::max(excess / n, k / n * bound / (exponent - 1)), true};
}

FitVerdict judged(const Interval& interval, bool refuted) {
  if (!interval.bounded()) return FitVerdict::cannot_tell;
  return refuted ? FitVerdict::does_not_fit : FitVerdict::fits;
}

/// Returns the mean of unbounded values.
Interval plain_mean(const IntervalUnits& units, const std::vector<double>& values, double confidence) {
  std::vector<double> sums;
  std::vector<double> counts;
  for (const Stretch& one : units.stretches) {
    double sum = 0;
    for (std::size_t i = one.first; i < one.last; ++i) sum += values[i];
    sums.push_back(sum);
    counts.push_back(static_cast<double>(one.last - one.first));
  }
  const auto interval = ratio_interval(sums, counts, confidence);
  return interval && units.stretches.size() >= min_sequences ? *interval
                                                             : unbounded(interval ? interval->estimate : 0);
}

}  // namespace

TextFit text_fit(const Recording& recording, bool cut) {
  TextFit fit;
  std::vector<double> ratios(recording.size());
  double sum = 0;
  for (std::size_t i = 0; i < ratios.size(); ++i) {
    ratios[i] = std::exp(recording.draft[0][i] - recording.target[i]);
    sum += ratios[i];
  }
  fit.ratio_mean = sum / static_cast<double>(ratios.size());
  fit.too_large_p = std::exp(-log_supermartingale(ratios));
  fit.too_large = fit.too_large_p <= fit_level ? FitVerdict::does_not_fit : FitVerdict::fits;

  const IntervalUnits units = interval_units(recording.sequences);
  double share = 1;  // mass of q where p > 0
  if (!recording.rows.empty()) {
    share = 0;
    for (const double one : recording.rows.draft_share) share += one;
    share /= static_cast<double>(recording.size());
  }
  const Tail tail = tail_of(ratios);
  for (double& ratio : ratios) ratio = std::min(ratio, tail.bound);
  const Interval below = plain_mean(units, ratios, 1 - 2 * fit_level);
  fit.allowance = tail.allowance;
  fit.ratio_below = below.estimate + tail.allowance;
  if (tail.known && !cut) fit.too_small = judged(below, below.high + tail.allowance < share);

  if (!recording.entropy.empty()) {
    std::vector<double> surprise(recording.size());
    for (std::size_t i = 0; i < surprise.size(); ++i)
      surprise[i] = -recording.target[i] - recording.entropy[i];
    fit.surprise = plain_mean(units, surprise, 1 - fit_level);
    const bool zero = fit.surprise->holds(0) || std::abs(fit.surprise->estimate) < surprise_rounding;
    fit.entropy = judged(*fit.surprise, !zero);
  }
  return fit;
}

std::vector<std::string> misfit_sentences(const TextFit& fit) {
  std::vector<std::string> sentences;
  if (fit.too_large == FitVerdict::does_not_fit) {
    sentences.push_back(fmt::format(
        "The mean of q/p is {:.4g}, more than 1 (p < {:.1g}): the text was not drawn from the recorded target. It was sampled at a higher temperature, or comes from another model or a person.",
        fit.ratio_mean, std::max(fit.too_large_p, 1e-300)));
  }
  if (fit.too_small == FitVerdict::does_not_fit) {
    sentences.push_back(fmt::format(
        "The mean of q/p is {:.4g}, at most {:.4g} with an allowance for rare tokens, less than 1: the text was sampled at a lower temperature than recorded, or greedily; or the logarithms are not natural; or the target was truncated (top-k, top-p), or never emits some tokens that the draft proposes: give --cut; or missing numbers of the draft were filled in.",
        fit.ratio_mean, fit.ratio_below));
  }
  if (fit.entropy == FitVerdict::does_not_fit) {
    sentences.push_back(fmt::format(
        "The mean of -log p(y) differs by {:+.4g} nats from the entropy of p: the text was not drawn from p.",
        fit.surprise->estimate));
  }
  return sentences;
}

}  // namespace speclab

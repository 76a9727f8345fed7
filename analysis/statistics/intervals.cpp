#include "analysis/statistics/intervals.hpp"

#include <algorithm>
#include <boost/math/distributions/beta.hpp>
#include <boost/math/distributions/binomial.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cassert>
#include <cmath>
#include <limits>
#include <numeric>

namespace speclab {
namespace {

Interval around(double estimate, double half_width) {
  return {estimate, estimate - half_width, estimate + half_width};
}

/// The interval of a mean whose n residuals are these, which sum to 0 (ratio_interval).
Interval mean_interval(double estimate, std::span<const double> residuals, double confidence) {
  if (residuals.size() < 2) return around(estimate, std::numeric_limits<double>::infinity());
  double squares = 0;
  double cubes = 0;
  for (const double one : residuals) {
    squares += one * one;
    cubes += one * one * one;
  }
  const auto n = static_cast<double>(residuals.size());
  const double quantile = student_quantile(n - 1, confidence) / std::sqrt(n);
  const double spread = std::sqrt(squares / (n - 1));
  Interval interval = around(estimate, quantile * spread);
  const double skewness = squares > 0 ? cubes / n / std::pow(squares / n, 1.5) : 0;
  // The threshold 0.2 sqrt(n) of the skewness is 2.9 of its standard deviations, sqrt(6 (n - 2) / ((n + 1) (n
  // + 3))), for 32 normal values, and more for more values.
  if (residuals.size() < min_skewed_batches || std::abs(skewness) <= 0.2 * std::sqrt(n)) return interval;
  // t + skewness t^2 / 3 + skewness^2 t^3 / 27 + skewness / 6 n is monotone in t and nearly symmetric.
  const auto untransformed = [&](double value) {
    const double left = value - skewness / (6 * n);
    return 3 / skewness * (std::cbrt(1 + skewness * left) - 1);
  };
  interval.low = std::min(interval.low, estimate - spread * untransformed(quantile));
  interval.high = std::max(interval.high, estimate - spread * untransformed(-quantile));
  return interval;
}

/// A ratio of sums, and each batch's contribution to its error, to first order.
struct LinearisedRatio {
  double ratio;
  std::vector<double> errors;
};

std::optional<LinearisedRatio> linearised(const BatchRatio& batches) {
  assert(batches.numerators.size() == batches.denominators.size());
  const double below = std::accumulate(batches.denominators.begin(), batches.denominators.end(), 0.0);
  if (below == 0) return std::nullopt;
  const double ratio = std::accumulate(batches.numerators.begin(), batches.numerators.end(), 0.0) / below;
  const double mean_denominator = below / static_cast<double>(batches.denominators.size());
  LinearisedRatio linear{ratio, {}};
  for (std::size_t i = 0; i < batches.numerators.size(); ++i)
    linear.errors.push_back((batches.numerators[i] - ratio * batches.denominators[i]) / mean_denominator);
  return linear;
}

/// Returns bounds of a success probability: Clopper and Pearson 1934.
Support binomial_bounds(double successes, double failures, double confidence) {
  using Beta = boost::math::beta_distribution<double>;
  const double tail = (1 - confidence) / 2;
  return {successes == 0 ? 0 : boost::math::quantile(Beta(successes, failures + 1), tail),
          failures == 0
              ? 1
              : boost::math::quantile(boost::math::complement(Beta(successes + 1, failures), tail))};
}

/// The bounds for one number of trials, each computed once.
class BinomialBounds {
 public:
  BinomialBounds(double trials, double confidence) : trials_(trials), confidence_(confidence) {}

  const Support& of(double successes) {
    const auto [found, fresh] = known_.try_emplace(successes);
    if (fresh) found->second = binomial_bounds(successes, trials_ - successes, confidence_);
    return found->second;
  }

 private:
  double trials_;
  double confidence_;
  std::map<double, Support> known_;
};

/// Returns the bounds of bounded_mean_interval. `values`, with their counts, ascend; their number is the
/// number of trials of `bounds`.
template <class Values>
Support mean_bounds(const Values& values, const Support& support, double trials, BinomialBounds& bounds) {
  double from = std::min(support.low, values.begin()->first);
  Support mean{from, from};
  double above = trials;  // number of values > from
  const auto integrate = [&](double to) {
    if (!(to > from)) return;
    const Support share = bounds.of(above);
    mean.low += (to - from) * share.low;
    mean.high += (to - from) * share.high;
    from = to;
  };
  for (const auto& [value, count] : values) {
    integrate(value);
    above -= static_cast<double>(count);
  }
  integrate(support.high);
  return mean;
}

/// Values whose relative difference is at most this are equal.
constexpr double value_rounding = 1e-12;

void count_value(std::map<double, std::uint64_t>& counts, double value, double margin) {
  const auto next = counts.lower_bound(value - margin);
  const bool known = next != counts.end() && next->first <= value + margin;
  ++(known ? next->second : counts[value]);
}

/// Counts the values of batches with a denominator.
std::map<double, std::uint64_t> value_counts(const BatchRatio& batches) {
  std::map<double, std::uint64_t> counts;
  for (std::size_t i = 0; i < batches.numerators.size(); ++i) {
    if (batches.denominators[i] == 0) continue;
    const double value = batches.numerators[i] / batches.denominators[i];
    count_value(counts, value, value_rounding * std::abs(value));
  }
  return counts;
}

/// Returns the last possible ratio between `inside`, which is possible, and `outside`.
template <class Possible>
double last_possible(double inside, double outside, const Possible& possible) {
  if (possible(outside)) return outside;
  return halved(inside, outside, 60, possible).first;
}

/// Returns bounds of a ratio within `support`, from those of the mean error of its batches
/// (bounded_ratio_interval).
Support ratio_bounds(const BatchRatio& batches, double ratio, const Support& support,
                     const LargestDenominators& largest, double confidence) {
  const auto trials = static_cast<double>(std::count_if(
      batches.denominators.begin(), batches.denominators.end(), [](double one) { return one > 0; }));
  BinomialBounds bounds(trials, confidence);
  std::vector<std::pair<double, int>> errors;
  const auto error_bounds = [&](double at) {
    errors.clear();
    for (std::size_t i = 0; i < batches.numerators.size(); ++i) {
      if (batches.denominators[i] > 0)
        errors.emplace_back(batches.numerators[i] - at * batches.denominators[i], 1);
    }
    std::sort(errors.begin(), errors.end());
    return mean_bounds(errors, {largest.at_low * (support.low - at), largest.at_high * (support.high - at)},
                       trials, bounds);
  };
  return {last_possible(ratio, support.low, [&](double at) { return error_bounds(at).low <= 0; }),
          last_possible(ratio, support.high, [&](double at) { return error_bounds(at).high >= 0; })};
}

bool varied(const std::map<double, std::uint64_t>& counts) {
  std::uint64_t all = 0;
  std::uint64_t alike = 0;
  for (const auto& [value, count] : counts) {
    all += count;
    alike = std::max(alike, count);
  }
  return all > 1 && (alike == 1 || 2 * alike < all);
}

}  // namespace

bool varies(const BatchRatio& batches) { return varied(value_counts(batches)); }

bool Interval::bounded() const { return std::isfinite(low) && std::isfinite(high); }

bool Interval::holds(double value) const {
  const double margin = value_rounding * std::abs(value);
  return low - margin <= value && value <= high + margin;
}

Interval unbounded(double estimate) { return around(estimate, std::numeric_limits<double>::infinity()); }

std::optional<Interval> ratio_interval(std::span<const double> numerators,
                                       std::span<const double> denominators, double confidence) {
  assert(confidence > 0 && confidence < 1);
  const auto linear = linearised({numerators, denominators});
  if (!linear) return std::nullopt;
  return mean_interval(linear->ratio, linear->errors, confidence);
}

Interval bounded_mean_interval(const std::map<double, std::uint64_t>& counts, const Support& support,
                               double confidence) {
  assert(!counts.empty() && confidence > 0 && confidence < 1);
  double total = 0;
  double sum = 0;
  for (const auto& [value, count] : counts) {
    total += static_cast<double>(count);
    sum += value * static_cast<double>(count);
  }
  const double estimate = sum / total;
  BinomialBounds bounds(total, confidence);
  const Support mean = mean_bounds(counts, support, total, bounds);
  return {estimate, std::min(mean.low, estimate), std::max(mean.high, estimate)};
}

std::optional<Interval> bounded_ratio_interval(std::span<const double> numerators,
                                               std::span<const double> denominators, const Support& support,
                                               double confidence,
                                               std::optional<LargestDenominators> largest) {
  const auto ratio = ratio_interval(numerators, denominators, confidence);
  if (!ratio || !ratio->bounded()) return ratio;
  const double estimate = ratio->estimate;
  const auto within = [&](const Support& bounds) {
    return Interval{estimate, std::min(std::max(bounds.low, support.low), estimate),
                    std::max(std::min(bounds.high, support.high), estimate)};
  };
  const auto counts = value_counts({numerators, denominators});
  if (varied(counts)) return within({ratio->low, ratio->high});
  const double most = *std::max_element(denominators.begin(), denominators.end());
  const LargestDenominators ends = largest.value_or(LargestDenominators{most, most});
  const bool equal = std::all_of(denominators.begin(), denominators.end(),
                                 [&](double one) { return one == 0 || one == most; });
  if (equal && ends.at_low == most && ends.at_high == most) {
    const Interval mean = bounded_mean_interval(counts, support, confidence);
    return within({mean.low, mean.high});
  }
  const Support seen{std::min(support.low, counts.begin()->first),
                     std::max(support.high, counts.rbegin()->first)};
  return within(ratio_bounds({numerators, denominators}, estimate, seen, ends, confidence));
}

std::optional<Interval> paired_difference(const BatchRatio& first, const BatchRatio& second,
                                          double confidence) {
  assert(first.numerators.size() == second.numerators.size() && confidence > 0 && confidence < 1);
  const auto one = linearised(first);
  const auto other = linearised(second);
  if (!one || !other) return std::nullopt;
  std::vector<double> errors;
  std::map<double, std::uint64_t> differences;
  for (std::size_t i = 0; i < one->errors.size(); ++i) {
    errors.push_back(one->errors[i] - other->errors[i]);
    if (first.denominators[i] == 0 || second.denominators[i] == 0) continue;
    const double value = first.numerators[i] / first.denominators[i];
    const double partner = second.numerators[i] / second.denominators[i];
    count_value(differences, value - partner, value_rounding * (std::abs(value) + std::abs(partner)));
  }
  if (!varied(differences)) return unbounded(one->ratio - other->ratio);
  return mean_interval(one->ratio - other->ratio, errors, confidence);
}

std::optional<Interval> binomial_interval(std::uint64_t successes, std::uint64_t trials, double confidence) {
  assert(successes <= trials && confidence > 0 && confidence < 1);
  if (trials == 0) return std::nullopt;
  const auto hits = static_cast<double>(successes);
  const Support bounds = binomial_bounds(hits, static_cast<double>(trials - successes), confidence);
  return Interval{hits / static_cast<double>(trials), bounds.low, bounds.high};
}

double family_confidence(double confidence, int comparisons) {
  assert(confidence > 0 && confidence < 1 && comparisons >= 1);
  return std::pow(confidence, 1.0 / comparisons);
}

// Quantiles are cached: a sweep needs the same few repeatedly, and computing one takes as long as the
// simulation of a small cell.
double student_quantile(double degrees, double confidence) {
  constexpr std::size_t max_kept = 1024;
  thread_local std::map<std::pair<double, double>, double> known;
  const auto found = known.find({degrees, confidence});
  if (found != known.end()) return found->second;
  if (known.size() == max_kept) known.clear();
  const boost::math::students_t_distribution<double> student(degrees);
  const double quantile = boost::math::quantile(boost::math::complement(student, (1 - confidence) / 2));
  known.emplace(std::pair{degrees, confidence}, quantile);
  return quantile;
}

double median(std::vector<double> values) {
  if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

std::optional<Interval> median_interval(std::vector<double> values, double confidence) {
  if (values.empty()) return std::nullopt;
  std::sort(values.begin(), values.end());
  const double middle = median(values);
  const boost::math::binomial_distribution<double> below(static_cast<double>(values.size()), 0.5);
  // This is the probability that the k-th value from either end lies beyond the median.
  std::size_t k = 0;
  while (boost::math::cdf(below, static_cast<double>(k)) <= (1 - confidence) / 2) ++k;
  if (k == 0) return unbounded(middle);
  return Interval{middle, values[k - 1], values[values.size() - k]};
}

}  // namespace speclab

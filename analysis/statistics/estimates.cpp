#include "analysis/statistics/estimates.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <numeric>

namespace speclab {

namespace {

/// Returns the number of rounds whose accepted prefix has at least `length` tokens.
double reaching(const Tally& batch, std::size_t length) {
  const auto& lengths = batch.accepted_lengths;
  if (length >= lengths.size()) return 0;
  return real(std::accumulate(lengths.begin() + static_cast<std::ptrdiff_t>(length), lengths.end(),
                              std::uint64_t{0}));
}

Tally sum_of(const std::vector<Tally>& batches) {
  Tally total;
  for (const Tally& batch : batches) total += batch;
  return total;
}

/// Returns the interval of a number that lies in `support` in every batch.
std::optional<Interval> bounded(const std::vector<Tally>& batches, const TallyPart& numerator,
                                const TallyPart& denominator, const Support& support, double confidence,
                                std::optional<LargestDenominators> largest = {}) {
  std::vector<double> above, below;
  for (const Tally& batch : batches) {
    above.push_back(numerator(batch));
    below.push_back(denominator(batch));
  }
  return bounded_ratio_interval(above, below, support, confidence, largest);
}

double largest_of(const std::vector<Tally>& batches, const TallyPart& part) {
  double most = 0;
  for (const Tally& batch : batches) most = std::max(most, part(batch));
  return most;
}

/// Largest error of a mean over contexts whose values are each rounded to a quantum.
constexpr double quantum_error = ContextSum::quantum / 2;

/// Widens the interval of a mean of values from 0 to 1 by the quantum's error.
Interval with_quantum_error(const Interval& mean) {
  const double estimate = std::min(mean.estimate, 1.0);
  if (!mean.bounded()) return {estimate, mean.low, mean.high};
  return {estimate, std::clamp(std::min(mean.low, mean.estimate - quantum_error), 0.0, 1.0),
          std::clamp(std::max(mean.high, mean.estimate + quantum_error), 0.0, 1.0)};
}

bool alike(const std::vector<Tally>& batches, const TallyPart& sum, const TallyPart& contexts, double mean) {
  return std::ranges::all_of(batches, [&](const Tally& batch) {
    return std::abs(sum(batch) - mean * contexts(batch)) <= 2 * quantum_error * contexts(batch);
  });
}

/// Returns the interval of a share, `successes` of `trials`, which count rounds or tokens. `largest.at_low`
/// bounds the trials of a batch without successes, `largest.at_high` those of a batch without failures. For
/// independent trials with few successes or few failures this is Clopper and Pearson's interval; the number
/// of trials may depend on the outcomes, as the number of examined tokens does.
std::optional<Interval> share(const std::vector<Tally>& batches, const TallyPart& successes,
                              const TallyPart& trials, const LargestDenominators& largest, double confidence,
                              Independence independence) {
  double all = 0;
  double hits = 0;
  for (const Tally& batch : batches) {
    hits += successes(batch);
    all += trials(batch);
  }
  if (independence == Independence::rounds && std::min(hits, all - hits) < real(few_rounds))
    return binomial_interval(static_cast<std::uint64_t>(hits), static_cast<std::uint64_t>(all), confidence);
  return known_bounds(bounded(batches, successes, trials, {0, 1}, confidence, largest), independence);
}

/// Bounds on the mean length of accepted prefixes and on its variance, from counts of rounds.
struct LengthMoments {
  Interval mean;
  Interval variance;
};

/// Computes the variance as the mean square less the square of the mean, each within its own bounds.
LengthMoments length_moments(const Tally& total, double longest, double confidence) {
  std::map<double, std::uint64_t> lengths;
  std::map<double, std::uint64_t> squares;
  for (std::size_t length = 0; length < total.accepted_lengths.size(); ++length) {
    if (total.accepted_lengths[length] == 0) continue;
    const auto value = static_cast<double>(length);
    lengths[value] = squares[value * value] = total.accepted_lengths[length];
  }
  const Interval mean = bounded_mean_interval(lengths, {0, longest}, confidence);
  const Interval square = bounded_mean_interval(squares, {0, longest * longest}, confidence);
  const auto variance = [](double squared, double first) { return std::max(0.0, squared - first * first); };
  return {mean,
          {variance(square.estimate, mean.estimate), variance(square.low, mean.high),
           variance(square.high, mean.low)}};
}

Interval over(double number, const Interval& interval) {
  return {number / interval.estimate, number / interval.high, number / interval.low};
}

}  // namespace

std::optional<Interval> known_bounds(std::optional<Interval> interval, Independence independence) {
  if (interval && independence == Independence::nothing) return unbounded(interval->estimate);
  return interval;
}

double batch_speedup(const Tally& batch, double c) {
  return real(batch.emitted) / (real(batch.rounds) + c * real(batch.draft_runs));
}

std::optional<Interval> context_mean(const std::vector<Tally>& batches, const TallyPart& sum,
                                     const TallyPart& contexts, double confidence,
                                     Independence independence) {
  const Tally total = sum_of(batches);
  const double over_all = sum(total) / contexts(total);
  if (independence == Independence::rounds && contexts(total) > 0 &&
      alike(batches, sum, contexts, over_all)) {
    return with_quantum_error({over_all, over_all, over_all});
  }
  const auto mean = known_bounds(bounded(batches, sum, contexts, {0, 1}, confidence), independence);
  return mean ? std::optional(with_quantum_error(*mean)) : mean;
}

std::vector<Estimate> estimates(const std::vector<Tally>& batches, const CostRatios& cost, double confidence,
                                Independence independence, const RunLimits& limits) {
  const Tally total = sum_of(batches);
  const TallyPart rounds = [](const Tally& t) { return real(t.rounds); };
  const TallyPart emitted = [](const Tally& t) { return real(t.emitted); };
  const TallyPart accepted = [](const Tally& t) { return real(t.accepted); };
  const TallyPart drafted = [](const Tally& t) { return real(t.drafted); };

  std::vector<Estimate> all;
  const TallyPart overlaps = [](const Tally& t) { return t.overlap_sum(); };
  const TallyPart contexts = [](const Tally& t) { return real(t.overlap_contexts); };
  all.push_back({"alpha_overlap", context_mean(batches, overlaps, contexts, confidence, independence)});
  if (total.rounds == 0) return all;
  const double drafted_a_round = real(total.drafted) / real(total.rounds);
  const double time = 1 + cost.c * real(total.draft_runs) / real(total.rounds);  // time of a round
  // A target run in a round evaluates drafted + 1 positions, each with the operations of a step without
  // drafts.
  const double work = 1 + (1 + cost.c_hat) * drafted_a_round;
  const double longest = std::max(limits.most_accepted.value_or(std::ceil(drafted_a_round)),
                                  static_cast<double>(total.accepted_lengths.size()) - 1);
  // If sequences have equally many tokens, one that accepts nothing has this many rounds.
  const double max_rounds = largest_of(batches, limits.equal == EqualLength::tokens ? emitted : rounds);
  const double max_drafted = largest_of(batches, drafted);
  all.push_back({"alpha_examined", share(
                                       batches, accepted, [](const Tally& t) { return real(t.examined); },
                                       {max_rounds, max_drafted}, confidence, independence)});

  const std::uint64_t commonest = *std::ranges::max_element(total.accepted_lengths);
  if (independence == Independence::rounds && total.rounds - commonest < few_rounds) {
    // All rounds draft the same number, so every estimate is a function of the accepted lengths.
    const LengthMoments lengths = length_moments(total, longest, confidence);
    const Interval tokens{1 + lengths.mean.estimate, 1 + lengths.mean.low, 1 + lengths.mean.high};
    if (total.drafted > 0) all.push_back({"alpha_drafted", scaled(lengths.mean, 1 / drafted_a_round)});
    all.push_back({"tokens_per_target_step", tokens});
    all.push_back({"tokens_variance", lengths.variance});
    all.push_back({"speedup", scaled(tokens, 1 / time)});
    all.push_back({"operations", over(work, tokens)});
    all.push_back({"memory_accesses", over(1, tokens)});
    return all;
  }

  const auto add = [&](const char* name, const TallyPart& numerator, const TallyPart& denominator,
                       const Support& support, const LargestDenominators& largest) {
    all.push_back({name, known_bounds(bounded(batches, numerator, denominator, support, confidence, largest),
                                      independence)});
  };
  const double rounds_seen = largest_of(batches, rounds);
  const double max_emitted =
      limits.equal == EqualLength::tokens ? largest_of(batches, emitted) : (1 + longest) * rounds_seen;
  add("alpha_drafted", accepted, drafted, {0, 1},
      {std::max(max_drafted, drafted_a_round * max_rounds), max_drafted});
  add("tokens_per_target_step", emitted, rounds, {1, 1 + longest}, {max_rounds, rounds_seen});
  // Centred on the overall mean, so that batches of unequal length get their weight.
  const double mean = real(total.emitted) / real(total.rounds);
  add("tokens_variance",
      [mean](const Tally& t) {
        return real(t.emitted_squared) - 2 * mean * real(t.emitted) + mean * mean * real(t.rounds);
      },
      rounds, {0, longest * longest}, {max_rounds, max_rounds});
  const TallyPart times = [&](const Tally& t) { return real(t.rounds) + cost.c * real(t.draft_runs); };
  const double time_seen = largest_of(batches, times);
  add("speedup", emitted, times, {1 / time, (1 + longest) / time},
      {std::max(time_seen, time * max_rounds), time_seen});
  add("operations", [&](const Tally& t) { return real(t.rounds) + (1 + cost.c_hat) * real(t.drafted); },
      emitted, {work / (1 + longest), work}, {max_emitted, max_rounds});
  add("memory_accesses", rounds, emitted, {1 / (1 + longest), 1}, {max_emitted, max_rounds});
  return all;
}

std::vector<PositionAcceptance> acceptance_by_position(const std::vector<Tally>& batches, int gamma,
                                                       double confidence, Independence independence) {
  const TallyPart rounds = [](const Tally& t) { return real(t.rounds); };
  const double most = largest_of(batches, rounds);
  std::vector<PositionAcceptance> positions;
  for (std::size_t i = 1; i <= static_cast<std::size_t>(gamma); ++i) {
    const TallyPart here = [i](const Tally& t) { return reaching(t, i); };
    const TallyPart before = [i](const Tally& t) { return reaching(t, i - 1); };
    positions.push_back({share(batches, here, rounds, {most, most}, confidence, independence),
                         share(batches, here, before, {most, most}, confidence, independence)});
  }
  return positions;
}

std::optional<Interval> share_of_length(const std::vector<Tally>& batches, std::size_t accepted,
                                        double confidence, Independence independence) {
  const TallyPart rounds = [](const Tally& t) { return real(t.rounds); };
  const double most = largest_of(batches, rounds);
  return share(
      batches,
      [accepted](const Tally& t) {
        return accepted < t.accepted_lengths.size() ? real(t.accepted_lengths[accepted]) : 0.0;
      },
      rounds, {most, most}, confidence, independence);
}

}  // namespace speclab

#include "analysis/statistics/estimates.hpp"

#include <cstddef>
#include <numeric>

namespace speclab {

namespace {

double real(std::uint64_t count) { return static_cast<double>(count); }

/// Rounds whose accepted prefix is at least `length` long.
double reaching(const Tally& batch, std::size_t length) {
  const auto& lengths = batch.accepted_lengths;
  if (length >= lengths.size()) return 0;
  return real(std::accumulate(lengths.begin() + static_cast<std::ptrdiff_t>(length), lengths.end(),
                              std::uint64_t{0}));
}

}  // namespace

std::optional<Interval> ratio_over_batches(const std::vector<Tally>& batches, const TallyPart& numerator,
                                           const TallyPart& denominator, double confidence) {
  std::vector<double> above;
  std::vector<double> below;
  for (const Tally& batch : batches) {
    above.push_back(numerator(batch));
    below.push_back(denominator(batch));
  }
  return ratio_interval(above, below, confidence);
}

double batch_speedup(const Tally& batch, double c) {
  return real(batch.emitted) / (real(batch.rounds) + c * real(batch.draft_runs));
}

std::vector<Estimate> estimates(const std::vector<Tally>& batches, const CostRatios& cost,
                                double confidence) {
  Tally total;
  for (const Tally& batch : batches) total += batch;
  const auto of = [&](const TallyPart& numerator, const TallyPart& denominator) {
    return ratio_over_batches(batches, numerator, denominator, confidence);
  };
  const TallyPart rounds = [](const Tally& t) { return real(t.rounds); };
  const TallyPart emitted = [](const Tally& t) { return real(t.emitted); };
  const TallyPart accepted = [](const Tally& t) { return real(t.accepted); };

  std::vector<Estimate> all;
  all.push_back({"alpha_overlap", of([](const Tally& t) { return t.overlap_sum(); },
                                     [](const Tally& t) { return real(t.overlap_contexts); })});
  if (total.rounds == 0) return all;
  all.push_back({"alpha_examined", of(accepted, [](const Tally& t) { return real(t.examined); })});
  all.push_back({"alpha_drafted", of(accepted, [](const Tally& t) { return real(t.drafted); })});
  all.push_back({"tokens_per_target_step", of(emitted, rounds)});

  // Around the overall mean, so that batches of unequal length weigh as they should.
  const double mean = real(total.emitted) / real(total.rounds);
  all.push_back({"tokens_variance", of(
                                        [mean](const Tally& t) {
                                          return real(t.emitted_squared) - 2 * mean * real(t.emitted) +
                                                 mean * mean * real(t.rounds);
                                        },
                                        rounds)});
  all.push_back(
      {"speedup", of(emitted, [&](const Tally& t) { return real(t.rounds) + cost.c * real(t.draft_runs); })});
  // A target run over a round evaluates drafted + 1 positions, each a plain step's worth of operations.
  all.push_back(
      {"operations",
       of([&](const Tally& t) { return real(t.rounds) + (1 + cost.c_hat) * real(t.drafted); }, emitted)});
  all.push_back({"memory_accesses", of(rounds, emitted)});
  return all;
}

std::vector<PositionAcceptance> acceptance_by_position(const std::vector<Tally>& batches, int gamma,
                                                       double confidence) {
  std::vector<PositionAcceptance> positions;
  for (std::size_t i = 1; i <= static_cast<std::size_t>(gamma); ++i) {
    const TallyPart here = [i](const Tally& t) { return reaching(t, i); };
    const TallyPart before = [i](const Tally& t) { return reaching(t, i - 1); };
    const TallyPart rounds = [](const Tally& t) { return real(t.rounds); };
    positions.push_back({ratio_over_batches(batches, here, rounds, confidence),
                         ratio_over_batches(batches, here, before, confidence)});
  }
  return positions;
}

}  // namespace speclab

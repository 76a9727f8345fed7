// From tallies to estimates with intervals. The three estimators of alpha, each under its own name:
//   alpha_overlap    mean of sum min(target, draft) over visited contexts (Rao-Blackwell; Cor. 3.6's alpha)
//   alpha_examined   accepted / examined: the maximum-likelihood estimate when rounds are i.i.d.
//   alpha_drafted    accepted / drafted: not alpha; reported because other tools report it
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "analysis/statistics/intervals.hpp"
#include "sim/tally.hpp"

namespace speclab {

struct CostRatios {
  double c = 0;      ///< draft run / target run, in time (Leviathan et al. 2023, Definition 3.7)
  double c_hat = 0;  ///< the same, in arithmetic operations (Definition 3.10)
};

struct Estimate {
  std::string name;
  std::optional<Interval> interval;
};

/// Ratio of what a part of each batch's tally sums to (ratio_interval).
using TallyPart = std::function<double(const Tally&)>;
std::optional<Interval> ratio_over_batches(const std::vector<Tally>& batches, const TallyPart& numerator,
                                           const TallyPart& denominator, double confidence);

/// Every estimate the tallies allow: alpha_overlap, alpha_examined, alpha_drafted, tokens_per_round,
/// tokens_variance, speed, operations, memory_accesses. Without rounds (an acceptance measurement) only
/// alpha_overlap. One tally per batch; batches are the unit of independence.
std::vector<Estimate> estimates(const std::vector<Tally>& batches, const CostRatios& cost, double confidence);

/// Speed in one batch: emitted tokens over virtual time, in plain decoding's tokens per target run.
double batch_speedup(const Tally& batch, double c);

/// Acceptance by position i = 1..gamma, from the lengths of accepted prefixes.
struct PositionAcceptance {
  std::optional<Interval> unconditional;  ///< P[position i accepted]
  std::optional<Interval> conditional;    ///< given that the i - 1 before it were; empty where never reached
};
std::vector<PositionAcceptance> acceptance_by_position(const std::vector<Tally>& batches, int gamma,
                                                       double confidence);

}  // namespace speclab

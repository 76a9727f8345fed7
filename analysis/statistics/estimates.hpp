// Turns tallies into estimates with intervals. The three estimators of alpha have different names:
//   alpha_overlap    mean of sum min(target, draft) over visited contexts (Rao-Blackwell; Cor. 3.6's alpha)
//   alpha_examined   accepted / examined: the maximum-likelihood estimate if rounds are i.i.d.
//   alpha_drafted    accepted / drafted: not alpha; reported because other tools report it
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "analysis/statistics/intervals.hpp"
#include "sim/tally.hpp"

namespace speclab {

struct CostRatios {
  double c = 0;      ///< time of a draft run / target run (Leviathan et al. 2023, Definition 3.7)
  double c_hat = 0;  ///< the same for arithmetic operations (Definition 3.10)
};

/// The parts of a run that are independent of each other.
enum class Independence {
  rounds,   ///< rounds: acceptances have one probability in every context
  batches,  ///< only batches
  /// No parts are known to be independent, as with few sequences cut into spans: intervals have infinite
  /// bounds, because one sequence does not reveal for how many rounds acceptances stay correlated. For a
  /// single sequence of 100 or 1,000 rounds whose correlation lasts for a tenth of them (two states that
  /// accept with .9 and .5), batch means of 64 spans cover .55 and .41 at 95%. Merging spans until neighbours
  /// are not significantly correlated, with an AR(1) correction and fewer degrees of freedom, covers .75
  /// where it gives an interval; for 1,000 rounds whose correlation lasts for 300 it covers .27.
  nothing
};

/// Returns the estimate with bounds that respect the dependence: infinite if nothing is independent.
std::optional<Interval> known_bounds(std::optional<Interval> interval, Independence independence);

/// The length that is equal in every sequence of a run, in rounds or tokens; the other depends on acceptance.
enum class EqualLength { rounds, tokens };

/// Limits of a run that its tallies do not contain.
struct RunLimits {
  EqualLength equal = EqualLength::rounds;
  /// Most tokens that a round can accept; by default the mean of those drafted, or the longest accepted
  /// prefix.
  std::optional<double> most_accepted = {};
};

struct Estimate {
  std::string name;
  std::optional<Interval> interval;
};

/// A number of each batch's tally.
using TallyPart = std::function<double(const Tally&)>;

/// If fewer independent rounds than this differ from the most common accepted length, intervals come from
/// counts of rounds, not from batches. Coverage at 95% over alpha = .01 .. .9999, gamma = 1, 5, 8 and 64 ..
/// 10,000 rounds, 2,000 runs each: with more such rounds Student's t of 64 batches covers .94 to .96; with 20
/// it covers .92, with 2 .81, with none 0. Counts cover .95 to 1, because Clopper and Pearson's interval is
/// conservative.
inline constexpr std::uint64_t few_rounds = 100;

/// Returns the mean over contexts of a value from 0 to 1 that was summed in quanta (sim/quality_sums.hpp);
/// the interval includes their rounding error. Such values are computed, not drawn: if independent rounds
/// have the same value in all contexts, their mean has no other error. With dependent rounds, unseen contexts
/// may have other values. In a recorded text a mean of min(1/l, q/p) may exceed 1, although its expectation
/// cannot: it is cut at 1.
std::optional<Interval> context_mean(const std::vector<Tally>& batches, const TallyPart& sum,
                                     const TallyPart& contexts, double confidence, Independence independence);

/// Returns every estimate that the tallies allow: alpha_overlap, alpha_examined, alpha_drafted,
/// tokens_per_target_step, tokens_variance, speedup, operations, memory_accesses. Without rounds (an
/// acceptance measurement) only alpha_overlap. One tally per batch.
std::vector<Estimate> estimates(const std::vector<Tally>& batches, const CostRatios& cost, double confidence,
                                Independence independence = Independence::batches,
                                const RunLimits& limits = {});

/// Returns the speedup in one batch: emitted tokens divided by the virtual time in target runs.
double batch_speedup(const Tally& batch, double c);

/// Acceptance at one position i = 1..gamma, from the lengths of accepted prefixes.
struct PositionAcceptance {
  std::optional<Interval> unconditional;  ///< P[position i accepted]
  std::optional<Interval>
      conditional;  ///< P[position i accepted | the i - 1 before it accepted]; empty if never reached
};
std::vector<PositionAcceptance> acceptance_by_position(const std::vector<Tally>& batches, int gamma,
                                                       double confidence,
                                                       Independence independence = Independence::batches);

/// Returns the share of rounds that accept exactly `accepted` tokens.
std::optional<Interval> share_of_length(const std::vector<Tally>& batches, std::size_t accepted,
                                        double confidence, Independence independence);

}  // namespace speclab

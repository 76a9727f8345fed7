// From tallies to estimates with intervals. The three estimators of alpha, each under its own name:
//   alpha_overlap    mean of sum min(target, draft) over visited contexts (Rao-Blackwell; Cor. 3.6's alpha)
//   alpha_examined   accepted / examined: the maximum-likelihood estimate when rounds are i.i.d.
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
  double c = 0;      ///< draft run / target run, in time (Leviathan et al. 2023, Definition 3.7)
  double c_hat = 0;  ///< the same, in arithmetic operations (Definition 3.10)
};

/// What of a run is independent of the rest.
enum class Independence {
  rounds,   ///< every round: acceptances of one probability, whatever came before
  batches,  ///< whole batches only
  /// Nothing is known to be, as with few sequences cut into stretches: intervals have infinite bounds.
  /// Stretches of one sequence do not tell how slowly it forgets. Of a single sequence of 100 or 1,000 rounds
  /// that forgets in a tenth of them (two states that accept with .9 and .5), batch means of 64 stretches
  /// cover .55 and .41 at 95%; merging stretches until the correlation of neighbours is not significant, with
  /// the AR(1) factor of what is left and fewer degrees, covers .75 where it does not refuse. Of 1,000 rounds
  /// that forget in 300 it covers .27: many look like independent ones.
  nothing
};

/// The estimate with bounds that know of the dependence: infinite where nothing is independent.
std::optional<Interval> known_bounds(std::optional<Interval> interval, Independence independence);

/// What every sequence of a run has equally many of: the other number depends on what is accepted.
enum class EqualLength { rounds, tokens };

/// What could have been in a run.
struct RunLimits {
  EqualLength equal = EqualLength::rounds;
  /// Drafted tokens in a round; without it as many as rounds have on average, or as were accepted.
  std::optional<double> max_drafted = {};
};

struct Estimate {
  std::string name;
  std::optional<Interval> interval;
};

/// Ratio of what a part of each batch's tally sums to (ratio_interval).
using TallyPart = std::function<double(const Tally&)>;
std::optional<Interval> ratio_over_batches(const std::vector<Tally>& batches, const TallyPart& numerator,
                                           const TallyPart& denominator, double confidence);

/// Of independent rounds with fewer than so many unlike the commonest kind, intervals come from counts of
/// rounds, not from batches. Measured at 95% over alpha = .01 .. .9999, gamma = 1, 5, 8 and 64 .. 10,000
/// rounds, 2,000 times each: above it Student's t of 64 batches covers .94 to .96; of 20 rounds it covers
/// .92, of 2 .81, and of none nothing. Counts cover .95 to 1: Clopper and Pearson's interval is conservative,
/// and so are sums of several.
inline constexpr std::uint64_t few_rounds = 100;

/// The mean over contexts of a value from 0 to 1 that was summed in quanta (sim/quality_sums.hpp), whose
/// error the interval holds as well. Such values are computed, not drawn: of independent rounds, where they
/// are alike in all contexts, their mean has no other error. Of dependent ones, contexts that were not seen
/// may have others. In a recorded text a mean of min(1/l, q/p) may exceed 1, its expectation
/// not: it is cut there.
std::optional<Interval> context_mean(const std::vector<Tally>& batches, const TallyPart& sum,
                                     const TallyPart& contexts, double confidence, Independence independence);

/// Every estimate the tallies allow: alpha_overlap, alpha_examined, alpha_drafted, tokens_per_target_step,
/// tokens_variance, speedup, operations, memory_accesses. Without rounds (an acceptance measurement) only
/// alpha_overlap. One tally per batch.
std::vector<Estimate> estimates(const std::vector<Tally>& batches, const CostRatios& cost, double confidence,
                                Independence independence = Independence::batches,
                                const RunLimits& limits = {});

/// Speed in one batch: emitted tokens over virtual time, in plain decoding's tokens per target run.
double batch_speedup(const Tally& batch, double c);

/// Acceptance by position i = 1..gamma, from the lengths of accepted prefixes.
struct PositionAcceptance {
  std::optional<Interval> unconditional;  ///< P[position i accepted]
  std::optional<Interval> conditional;    ///< given that the i - 1 before it were; empty where never reached
};
std::vector<PositionAcceptance> acceptance_by_position(const std::vector<Tally>& batches, int gamma,
                                                       double confidence,
                                                       Independence independence = Independence::batches);

/// The share of rounds that accept just so many tokens.
std::optional<Interval> share_of_length(const std::vector<Tally>& batches, std::size_t accepted,
                                        double confidence, Independence independence);

}  // namespace speclab

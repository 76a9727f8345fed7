// Analyses acceptance in a server's log of rounds. A round that accepted `accepted` < `drafted` tokens
// examined accepted + 1 of them and rejected the last; so a round is a geometric variable cut off at
// `drafted`, under the i.i.d. assumption of Leviathan et al. 2023.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "analysis/statistics/intervals.hpp"

namespace speclab {

struct LoggedRound {
  int drafted = 0;
  int accepted = 0;  ///< 0..drafted, asserted when rounds are read
};

/// Acceptances by position: index i is position i + 1 of a round.
struct PositionCounts {
  std::uint64_t rounds = 0;
  std::vector<std::uint64_t> examined;
  std::vector<std::uint64_t> accepted;  ///< accepted tokens among those examined

  std::uint64_t total_examined() const;
  std::uint64_t total_accepted() const;
};

PositionCounts count_positions(std::span<const LoggedRound> log);

/// Returns the counts of a log with only sums over rounds (a "log of totals"): `rounds` rounds of one length,
/// accepted[i] of these accepted position i + 1 (not increasing, at most `rounds`: asserted).
PositionCounts count_positions(std::uint64_t rounds, std::span<const std::uint64_t> accepted);

/// Returns alpha without the i.i.d. assumption, accepted / examined. The rounds are cut into `stretches`
/// spans of consecutive rounds, each a batch of bounded_ratio_interval. Empty with fewer than two rounds per
/// span. The interval is valid if correlations last less than 1/200 of the log; for 1,000 rounds with
/// correlations over 20 it covers .88 at 95%. If neighbouring spans are correlated (at level 0.05), they are
/// too short, and the bounds are infinite. Correlations that last longer than the log cannot be detected.
std::optional<Interval> stretch_interval(std::span<const LoggedRound> log, int stretches, double confidence);

/// Returns whether the correlation of neighbouring batches' ratios, around the common `ratio`, is above 0 at
/// level 0.05. With n independent batches it is about normal with mean -1/n and variance 1/n.
bool neighbours_alike(std::span<const double> numerators, std::span<const double> denominators, double ratio);

/// A chi-squared test; p = 1 without degrees of freedom.
struct LogTest {
  double statistic = 0;
  int degrees = 0;
  double p = 1;
};

/// Tests whether acceptance is the same at every position. Given how often each position was examined, its
/// number of accepted tokens is binomial and uncorrelated with those of other positions under the geometric
/// distribution (each position has its own draws), so the sum of squared standardised differences from the
/// common alpha has k - 1 degrees of freedom for k positions. The last positions are grouped until each group
/// expects five accepted and five rejected. Rounds of unequal difficulty fail the test, too, because easy
/// rounds reach later positions.
LogTest position_test(const PositionCounts& counts);

/// Tests whether rounds depend on the preceding round, by a 2 x 2 test of homogeneity: the first token of
/// every second round, after an accepted and after a rejected first token. Intended for a log of one
/// sequence; interleaved sequences hide a dependence.
LogTest neighbour_test(std::span<const LoggedRound> log);

/// Tokens per round for gamma = 0..k from conditional acceptances a_i of positions 1..k, without the i.i.d.
/// assumption: 1 + sum over i of a_1 ... a_i. Positions from the first unexamined one on are left out. Bounds
/// are for independent rounds: those of Clopper and Pearson for each a_i, combined by the slopes of the delta
/// method (Zou and Donner 2008, "Construction of confidence limits about effect measures"), as Greenwood
/// (1926) combines standard errors for survival curves. Standard errors are 0 at a position where all or none
/// of a few tokens were accepted; these bounds are not.
struct PositionalTokens {
  std::vector<double> tokens;
  std::vector<double> low;
  std::vector<double> high;
};
PositionalTokens positional_tokens(const PositionCounts& counts, double confidence);

/// Returns tokens and bounds from the rounds of a log in their order, at least 20. The bounds also include
/// those of Student's t over 10 spans of consecutive rounds; they are 1 to gamma + 1 if neighbouring spans
/// are correlated. At 95%, for rounds that switch between easy and hard (.9, .5) once in 10, they cover .95
/// for 1,000 rounds and .93 for 200, while bounds for independent rounds cover .65; once in 40, .93 for
/// 1,000.
PositionalTokens positional_tokens(std::span<const LoggedRound> log, double confidence);

struct LogPosition {
  std::size_t position = 0;  ///< from 1
  std::uint64_t examined = 0;
  std::uint64_t accepted = 0;
  Interval conditional{0, 0, 0};  ///< P[accepted | those before], by Clopper and Pearson
  double unconditional = 0;       ///< P[accepted]
};

/// The i.i.d. tests of a log, and its acceptance by position.
struct LogFit {
  std::optional<Interval> alpha_by_stretches;  ///< over 20 spans of consecutive rounds
  LogTest positions_alike;
  std::optional<LogTest> rounds_independent;  ///< none for totals
  std::vector<LogPosition> positions;         ///< positions that were examined

  /// The level is 0.001 for both tests together.
  bool positions_rejected() const;
  bool rounds_rejected() const;
  bool iid_rejected() const { return positions_rejected() || rounds_rejected(); }
};

/// Analyses a log. `rounds` may be empty for a log of totals; `counts` are the counts of the log.
LogFit log_fit(std::span<const LoggedRound> rounds, const PositionCounts& counts, double confidence);

/// Returns the expected number of rounds that draft `position` tokens or more until that position has been
/// examined `times` times, under the i.i.d. assumption: times / alpha^(position - 1).
double rounds_to_examine(double alpha, int position, double times);

}  // namespace speclab

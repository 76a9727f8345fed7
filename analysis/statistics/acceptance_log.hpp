// What a server's log of rounds says about acceptance. A round of which `accepted` < `drafted` tokens were
// accepted examined accepted + 1 of them, the last of which it rejected; so a round is a geometric variable
// cut off at `drafted`, under the i.i.d. assumption of Leviathan et al. 2023.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "analysis/statistics/intervals.hpp"

namespace speclab {

struct LoggedRound {
  int drafted = 0;
  int accepted = 0;  ///< 0..drafted, asserted where rounds are read
};

/// Acceptances by position: index i is position i + 1 of a round.
struct PositionCounts {
  std::uint64_t rounds = 0;
  std::vector<std::uint64_t> examined;
  std::vector<std::uint64_t> accepted;  ///< of those examined

  std::uint64_t total_examined() const;
  std::uint64_t total_accepted() const;
};

PositionCounts count_positions(std::span<const LoggedRound> log);

/// From totals: `rounds` rounds of one length, of which accepted[i] accepted position i + 1 (not increasing,
/// at most `rounds`: asserted).
PositionCounts count_positions(std::uint64_t rounds, std::span<const std::uint64_t> accepted);

/// alpha without the i.i.d. assumption, accepted / examined: rounds in `stretches` stretches as they follow
/// one another, each a batch of bounded_ratio_interval. Empty with fewer rounds than two for each stretch. It
/// holds where rounds forget within 1/200 of the log; of 1,000 rounds that forget in 20 it covers .88 at 95%.
/// Where neighbouring stretches resemble each other (at level 0.05), they are too short, and the bounds are
/// infinite. A log that hardly changes from its first to its last round shows nothing of it.
std::optional<Interval> stretch_interval(std::span<const LoggedRound> log, int stretches, double confidence);

/// Whether the correlation of neighbouring batches' shares numerator / denominator, around their common
/// `ratio`, is above 0 at level 0.05. With n independent batches it is normal with mean -1/n and variance
/// 1/n.
bool neighbours_alike(std::span<const double> numerators, std::span<const double> denominators, double ratio);

/// A chi-squared test; p = 1 without degrees of freedom.
struct LogTest {
  double statistic = 0;
  int degrees = 0;
  double p = 1;
};

/// Is acceptance the same at every position? Given how often each was examined, its number of accepted tokens
/// is binomial and uncorrelated with other positions' under the geometric distribution (each position has
/// draws of its own), so that the sum of squared standardised differences from the common alpha has k - 1
/// degrees for k positions. The last positions are taken together until each group expects five accepted and
/// five rejected. Rounds of unlike difficulty fail it too: those that get far are the easy ones.
LogTest position_test(const PositionCounts& counts);

/// Do rounds depend on the round before them? The first token of every second round, where it follows an
/// accepted first token and where it follows a rejected one: a 2 x 2 test of homogeneity. Meant for a log of
/// one sequence; interleaved sequences hide what there is.
LogTest neighbour_test(std::span<const LoggedRound> log);

/// Tokens per round of gamma = 0..k from conditional acceptances a_i of positions 1..k, without i.i.d.:
/// 1 + sum over i of a_1 ... a_i. Positions from the first that was never examined on are left out.
/// Bounds are for independent rounds: those of Clopper and Pearson for each a_i, put together by the slopes
/// of the delta method (Zou and Donner 2008, "Construction of confidence limits about effect measures"), as
/// Greenwood's of 1926 for survival curves are from standard errors. Those are 0 at a position where all or
/// none of a few tokens were accepted; these bounds are not.
struct PositionalTokens {
  std::vector<double> tokens;
  std::vector<double> low;
  std::vector<double> high;
};
PositionalTokens positional_tokens(const PositionCounts& counts, double confidence);

/// The same of the rounds of a log as they followed one another, 20 at least, with bounds that also hold
/// those of Student's t over 10 stretches: 1 to gamma + 1 where neighbouring stretches resemble each other.
/// At 95% of rounds that turn between easy and hard (.9, .5) once in 10 they cover .95 of 1,000 rounds and
/// .93 of 200, where bounds for independent rounds cover .65; once in 40, .93 of 1,000.
PositionalTokens positional_tokens(std::span<const LoggedRound> log, double confidence);

struct LogPosition {
  std::size_t position = 0;  ///< from 1
  std::uint64_t examined = 0;
  std::uint64_t accepted = 0;
  Interval conditional{0, 0, 0};  ///< P[accepted | those before], by Clopper and Pearson
  double unconditional = 0;       ///< P[accepted]
};

/// Does acceptance look i.i.d., and what is it position by position?
struct LogFit {
  std::optional<Interval> alpha_by_stretches;  ///< of 20 stretches
  LogTest positions_alike;
  std::optional<LogTest> rounds_independent;  ///< none of totals
  std::vector<LogPosition> positions;         ///< those that were examined

  /// At level 0.001 for both tests together: one false alarm in a thousand logs.
  bool positions_rejected() const;
  bool rounds_rejected() const;
  bool iid_rejected() const { return positions_rejected() || rounds_rejected(); }
};

/// `rounds` may be empty, of a log of totals; `counts` are theirs.
LogFit log_fit(std::span<const LoggedRound> rounds, const PositionCounts& counts, double confidence);

/// The expected number of rounds that draft `position` tokens or more after which that position was examined
/// `times` times, under the i.i.d. assumption: times / alpha^(position - 1).
double rounds_to_examine(double alpha, int position, double times);

}  // namespace speclab

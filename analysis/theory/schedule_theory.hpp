// Speedups over plain decoding of the schedules of sim/schedules, where every draft is accepted
// independently with probability alpha. Each is the long-run ratio of tokens to time of the program that the
// header of that schedule describes, and exact for it; functions named `usual` are forms as they are commonly
// given, kept where they differ. Ranges as in analysis/theory/theorems.hpp, asserted.
#pragma once

#include <functional>
#include <optional>
#include <span>

namespace speclab {

/// gamma independent heads for c a round: A / (1 + c).
double heads_speedup(double alpha, int gamma, double c);

/// An oracle that drafts what will be accepted, at most `most` tokens, and pays c for each: with A of `most`
/// tokens, A / (1 + c (A - 1)). See speedup_bound_drafting_paid for no limit.
double speedup_bound_capped(double alpha, int most, double c);

/// One level of a hierarchy of drafts: acceptance by the model above, fewest tokens drafted, time of a run.
struct LevelInputs {
  double alpha;
  int gamma;
  double c;
};

/// The hierarchy of sim/schedules/hierarchical.hpp, outermost level first; one level is Thm 3.8. How many
/// tokens a level drafts is the first sum of its rounds' tokens that reaches gamma: its distribution follows
/// by convolution, level by level from the last, and the expected number of rounds is that of a renewal
/// process.
double hierarchical_speedup(std::span<const LevelInputs> levels);

/// The usual approximation: a draft token of a level costs c_eff = (c_1 + gamma_2 c_eff,2) / A(alpha_2,
/// gamma_2), and Thm 3.8 takes that for c. It prices a fraction of a round that cannot be had, and forgets
/// that surplus tokens are verified, too.
double hierarchical_speedup_usual(std::span<const LevelInputs> levels);

/// Distributed speculative inference with as many servers as it asks for, as described in
/// sim/schedules/dsi.hpp. k accepted drafts are found out by the run over the first multiple m of `lookahead`
/// that is at least k, which ends at m c + 1, so that k + 1 tokens take that long:
///     [1 / (1 - alpha)] / [1 + c lookahead alpha / (1 - alpha^lookahead)].
/// At lookahead 1 this is 1 / (1 - alpha + c alpha), the form usually printed, and the charged oracle's.
/// Empty at alpha = 1, where no rejection ever ends the first stretch. 0 < c <= 1, lookahead >= 1.
std::optional<double> dsi_speedup(double alpha, double c, int lookahead);

/// The same with `servers` >= 1. Run j starts at s_j = max(time when its drafts are there, s_(j - servers) +
/// 1) over m_j drafts, and E[time] = 1 + sum over j of (s_(j+1) - s_j) alpha^(m_j + 1). Takes O(1 / (1 -
/// alpha)) time; also empty when that is beyond 10^8 runs.
std::optional<double> dsi_speedup(double alpha, double c, int lookahead, int servers);

/// The same as charged in sim/schedules/dsi_as_charged.hpp. With q = alpha^lookahead a stretch takes
///     1 + c lookahead (alpha + q / (1 - q)),
/// less where its drafts would take longer than plain decoding. Empty at alpha = 1. 0 < c <= 1, lookahead
/// >= 1.
std::optional<double> dsi_speedup_as_charged(double alpha, double c, int lookahead);

/// How many servers it takes that no run waits: one starts every `lookahead` c and lasts 1. The largest int
/// where they are more.
int dsi_servers(double c, int lookahead);

/// PEARL, of sim/schedules/pearl.hpp, without `next_row`, as usually given: 1 / (1 - alpha) tokens from one
/// correction to the next, in 1 + alpha + alpha^gamma / (1 - alpha^gamma) steps of max(1, gamma c):
/// pre-verify; with probability alpha post-verify of the gamma - 1 drafts that are left; then gamma drafts a
/// step while all are accepted. gamma >= 1.
double pearl_speedup(double alpha, int gamma, double c);

/// With `next_row`, as the authors' program does: 1 + alpha / (1 - alpha^gamma) steps, since every
/// post-verify step settles gamma drafts.
double pearl_speedup_next_row(double alpha, int gamma, double c);

/// Drafts on a device of their own for likely outcomes, of sim/schedules/asynchronous.hpp: with A expected
/// tokens of a drafted round, h A + (1 - h) A' tokens in h max(1, gamma c) + (1 - h) T target runs, where A'
/// = A and T = 1 + gamma c after a miss that is drafted, and both are 1 after one that is not. 0 <= hit <= 1.
double asynchronous_speedup(double alpha, int gamma, double c, double hit, bool plain_after_miss);

/// Two functions in a row, the first's output accepted with probability beta; times f, g and, of the
/// stand-in for f, q. Without interrupts (f + g) / (max(f, q + g) + (1 - beta) g), the usual form: after a
/// rejection g first ends its useless run. With them a rejected call takes max(f, q) + g.
double speculative_function_speedup(double beta, double f, double g, double q);
double speculative_function_speedup_interrupting(double beta, double f, double g, double q);

/// Expected rounds until at least `goal` tokens are emitted, at gamma drafted tokens a round.
double expected_rounds(double alpha, int gamma, int goal);

/// Time of a run over so many tokens.
using RunCost = std::function<double(double tokens)>;

/// Batched decoding of sequences without end, against plain decoding of the same batch:
/// A cost(B) / (gamma c cost(B) + cost(B (gamma + 1))).
double batched_speedup_usual(double alpha, int gamma, double c, int sequences, const RunCost& cost);

/// Sequences of `goal` tokens, places filled at once from a queue without end: goal / expected_rounds stands
/// for A, since the last round of a sequence is cut.
double batched_speedup_replaced(double alpha, int gamma, double c, int sequences, int goal,
                                const RunCost& cost);

/// Batches of sequences of `goal` tokens that end with the slowest: in round r the number of active sequences
/// is binomial, each being active with probability P(r - 1 rounds emit less than goal).
double batched_speedup_waves(double alpha, int gamma, double c, int sequences, int goal, const RunCost& cost);

}  // namespace speclab

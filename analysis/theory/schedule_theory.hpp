// Closed forms of the speedup of the schedules of sim/schedules, if every draft is accepted independently
// with probability alpha. Each is the exact long-run ratio of tokens to time of the schedule that its header
// in sim/schedules defines. Functions named `usual` are the commonly given formulas, kept where they differ.
// Ranges are those of analysis/theory/theorems.hpp (asserted).
#pragma once

#include <functional>
#include <optional>
#include <span>

namespace speclab {

/// Returns the speedup of gamma independent heads for c per round: A / (1 + c).
double heads_speedup(double alpha, int gamma, double c);

/// Returns the speedup of an oracle that drafts exactly the tokens that will be accepted, at most `most`, at
/// time c each: with A for gamma = `most`, A / (1 + c (A - 1)); 1 if c > 1. Without a limit see
/// speedup_bound_drafting_paid.
double speedup_bound_capped(double alpha, int most, double c);

/// One level of a hierarchy of drafts: acceptance rate by the model above, minimum of tokens drafted, time of
/// a run.
struct LevelInputs {
  double alpha;
  int gamma;
  double c;
};

/// Returns the speedup of the hierarchy of sim/schedules/hierarchical.hpp, outermost level first; one level
/// is Thm 3.8. A level runs rounds until their tokens sum to gamma or more: the distribution of that sum
/// follows by convolution, level by level from the last, and the expected number of rounds is that of a
/// renewal process.
double hierarchical_speedup(std::span<const LevelInputs> levels);

/// Returns the usual approximation: a draft token of a level costs c_eff = (c_1 + gamma_2 c_eff,2) /
/// A(alpha_2, gamma_2), and Thm 3.8 takes this as c. It counts fractions of a round, which cannot occur, and
/// ignores that tokens beyond gamma are verified, too.
double hierarchical_speedup_usual(std::span<const LevelInputs> levels);

/// Returns the speedup of distributed speculative inference (sim/schedules/dsi.hpp) with as many servers as
/// it needs. After k accepted drafts, the run over the first multiple m >= k of `lookahead` finds the
/// rejection; it ends at m c + 1, so k + 1 tokens take that long:
///     [1 / (1 - alpha)] / [1 + c lookahead alpha / (1 - alpha^lookahead)].
/// At lookahead 1 this is 1 / (1 - alpha + c alpha), the usual formula, equal to speedup_bound_drafting_paid.
/// Empty at alpha = 1, where no rejection occurs. 0 < c <= 1, lookahead >= 1.
std::optional<double> dsi_speedup(double alpha, double c, int lookahead);

/// Returns the speedup with `servers` >= 1 servers. Run j starts at s_j = max(time when its drafts exist,
/// s_(j - servers) + 1) over m_j drafts, and E[time] = 1 + sum over j of (s_(j+1) - s_j) alpha^(m_j + 1).
/// Takes O(1 / (1 - alpha)) time; also empty if that is beyond 10^8 runs.
std::optional<double> dsi_speedup(double alpha, double c, int lookahead, int servers);

/// Returns the number of servers with which no run waits: a run starts every `lookahead` c and lasts 1.
/// Returns the largest int if the number exceeds it.
int dsi_servers(double c, int lookahead);

/// Returns the speedup of PEARL (sim/schedules/pearl.hpp) without `next_row`, as usually given: 1 / (1 -
/// alpha) tokens from one correction to the next, in 1 + alpha + alpha^gamma / (1 - alpha^gamma) steps of
/// max(1, gamma c): pre-verify; with probability alpha post-verify of the remaining gamma - 1 drafts; then
/// gamma drafts per step while all are accepted. gamma >= 1.
double pearl_speedup(double alpha, int gamma, double c);

/// Returns the speedup of PEARL with `next_row`, as in the authors' program: 1 + alpha / (1 - alpha^gamma)
/// steps, since every post-verify step decides gamma drafts.
double pearl_speedup_next_row(double alpha, int gamma, double c);

/// Returns the speedup of drafting for likely outcomes on a separate device (sim/schedules/asynchronous.hpp):
/// with h = `hit` and A expected tokens of a drafted round, h A + (1 - h) A' tokens in h max(1, gamma c) + (1
/// - h) T target runs. A' = A and T = 1 + gamma c if the round after a miss is drafted, else both are 1. 0 <=
/// hit <= 1.
double asynchronous_speedup(double alpha, int gamma, double c, double hit, bool plain_after_miss);

/// Return the speedup of two functions in sequence, where the first's output is accepted with probability
/// beta; f, g and q are the times of the functions and of the approximation of f. Without interrupts it is (f
/// + g) / (max(f, q + g) + (1 - beta) g), the usual formula: after a rejection g first finishes its useless
/// run. With interrupts a rejected call takes max(f, q) + g.
double speculative_function_speedup(double beta, double f, double g, double q);
double speculative_function_speedup_interrupting(double beta, double f, double g, double q);

/// Returns the expected rounds until at least `goal` tokens are emitted, with gamma drafted tokens per round.
double expected_rounds(double alpha, int gamma, int goal);

using RunCost = std::function<double(double tokens)>;

/// Returns the speedup of batched decoding of endless sequences over the same batch without speculation: A
/// cost(B) / (gamma c cost(B) + cost(B (gamma + 1))).
double batched_speedup_usual(double alpha, int gamma, double c, int sequences, const RunCost& cost);

/// Returns the speedup for sequences of `goal` tokens if a new sequence immediately replaces a finished one:
/// goal / expected_rounds replaces A, since the last round of a sequence is cut.
double batched_speedup_replaced(double alpha, int gamma, double c, int sequences, int goal,
                                const RunCost& cost);

/// Returns the speedup for static batches of sequences of `goal` tokens, which end with the slowest: in round
/// r the number of active sequences is binomial, each being active with probability P(r - 1 rounds emit less
/// than goal).
double batched_speedup_waves(double alpha, int gamma, double c, int sequences, int goal, const RunCost& cost);

}  // namespace speclab

// Closed forms of Leviathan et al. 2023 under their assumption that every drafted token is accepted
// independently with probability alpha. Throughout, alpha in [0, 1] is the acceptance probability of one
// drafted token, gamma >= 0 the number of drafted tokens per round, c >= 0 the time of one draft run over
// that of one target run, and c_hat >= 0 the same for arithmetic operations. Values outside these ranges are
// asserted against.
#pragma once

#include <optional>

namespace speclab {

/// Returns tokens emitted per round, including the correction or bonus token: (1 - alpha^(gamma+1)) / (1 -
/// alpha), in [1, gamma + 1]. Accurate to a few units in the last place for all alpha; gamma + 1 at alpha = 1
/// (Leviathan et al. 2023, Eq. 1).
double expected_tokens(double alpha, int gamma);

/// Returns the variance of the tokens emitted per round. Takes O(gamma) time.
double tokens_variance(double alpha, int gamma);

/// Returns the expected walltime improvement over decoding without speculation, A / (gamma c + 1) with A =
/// expected_tokens. A round costs gamma draft runs and one target run (Leviathan et al. 2023, Thm 3.8).
double speedup(double alpha, int gamma, double c);

/// Returns the expected arithmetic operations per token relative to decoding without speculation, (gamma
/// c_hat + gamma + 1) / A (Leviathan et al. 2023, Thm 3.11).
double operations(double alpha, int gamma, double c_hat);

/// Returns the reads of the target's weights per token relative to decoding without speculation, 1 / A
/// (Leviathan et al. 2023, section 3.4).
double memory_accesses(double alpha, int gamma);

/// Returns a lower bound on the best gamma's speedup, (1 + alpha) / (1 + c); empty unless alpha > c
/// (Leviathan et al. 2023, Cor. 3.9).
std::optional<double> guaranteed_speedup(double alpha, double c);

/// Returns the speedup of an oracle that drafts exactly the tokens that will be accepted, in no time: 1 / (1
/// - alpha). Empty at alpha = 1, where it is unbounded.
std::optional<double> speedup_bound_drafting_free(double alpha);

/// Returns the speedup of the same oracle if each drafted token takes time c: 1 / (1 - alpha + c alpha). It
/// drafts nothing if c > 1, when a draft run takes longer than a target run. Empty at alpha = 1 with c = 0.
std::optional<double> speedup_bound_drafting_paid(double alpha, double c);

}  // namespace speclab

// Turns tallies with quality sums (sim/rule_quality.hpp) into estimates that compare rules on one pair of
// models.
#pragma once

#include <vector>

#include "analysis/statistics/estimates.hpp"
#include "sim/tally.hpp"

namespace speclab {

/// Returns the estimates that the tallies allow, with one tally per batch; batches are independent unless
/// `independence` is nothing:
/// - first_token_acceptance: P(a drafted token is accepted at the first position of a round).
/// - optimal_transport_bound: mean over the contexts that rounds start from of the optimal transport bound
///    for the same number of i.i.d. drafts (Sun et al. 2023, "SpecTr"). It bounds lossless rules of i.i.d.
///    drafts, but not rules of siblings drawn without replacement, nor of chosen drafts.
/// - tv_to_target: mean over examined positions of the total variation between the distribution of the
///    emitted token, given its context, and the target's row.
/// - regret: rejections less the minimum of lossless rules that verify one draft token by token, which is the
///    sum of the total variations of target and draft (Yin et al. 2024), per examined position. It is 0 in
///    expectation for token verification; block verification and rules of several drafts can be below 0.
std::vector<Estimate> quality_estimates(const std::vector<Tally>& batches, double confidence,
                                        Independence independence = Independence::batches);

}  // namespace speclab

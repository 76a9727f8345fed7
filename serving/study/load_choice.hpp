// Chooses among simulated policies: the best at each rate, and the recommended ones.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "serving/study/load_plan.hpp"

namespace speclab {

/// A recommended policy may be slower than the best by this share, so that one policy serves several rates.
inline constexpr double kept_loss = 0.05;

/// Runs by policy, then rate; no runs where the policy is overloaded.
using PolicyRuns = std::vector<std::vector<std::vector<RunNumbers>>>;

/// Returns the mean latency, in ms, and the share of requests that meet the SLOs (1 without), at a point
/// without a state.
double mean_latency(const LoadPoint& point);
double kept_share(const LoadPoint& point);
/// Returns whether the percentile's share of requests meets the targets at this point; true without targets.
bool meets_targets(const LoadPlan& plan, const LoadPoint& point);
/// Returns whether the first point is better than the second (LoadChoice). Neither has a state.
bool is_better(const LoadPlan& plan, const LoadPoint& first, const LoadPoint& second);

/// Returns the best of all policies at each rate.
std::vector<LoadChoice> best_policies(const LoadPlan& plan, const PolicyRuns& runs);
/// Returns the recommended policies, of those that are `settable`.
std::vector<LoadAdvice> recommended_policies(const LoadPlan& plan, const PolicyRuns& runs);
/// Returns the index of the policy that is recommended for all rates from `from` to `to`, of those for which
/// `allowed` is true and which keep up at all of these rates; empty if none does.
std::optional<std::size_t> best_over_rates(const LoadPlan& plan, const std::vector<bool>& allowed,
                                           std::size_t from, std::size_t to);

/// Returns rates in words: "20 to 40 requests per second".
std::string rate_words(double from, double to);
/// Returns the policy that is recommended at a rate; null if none is.
const LoadPolicy* recommended_at(const LoadPlan& plan, double rate);

}  // namespace speclab

// Decides many tests jointly, and corrects the confidence of simulations that continue until an interval is
// narrow enough. Each interim
// analysis ("look") computes the interval; stopping at one of several 95% intervals gives less than 95%: with
// ten looks at a simulation that doubles in between, one simulation in four excludes the truth at some look.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace speclab {

/// Returns adjusted p-values in the order given (Holm 1979). Rejecting those <= level keeps the probability
/// of any false rejection below level, for any dependence between the tests.
std::vector<double> holm_adjusted(std::span<const double> p_values);

/// Returns the number of looks at a simulation of `first` rounds that doubles until it has more than `most`:
/// at first, 2 first, 4 first, ... At least one.
int looks_at_doublings(std::uint64_t first, std::uint64_t most);

/// Returns the confidence that the interval at each of `looks` >= 1 looks needs so that all contain the truth
/// with probability `confidence`, for any stopping rule: 1 - (1 - confidence) / looks. This is a
/// group-sequential design that spends its error evenly over the looks (Lan and DeMets 1983; Jennison and
/// Turnbull 2000, section 7.2), with Bonferroni's inequality instead of the looks' joint distribution: it
/// needs only a valid interval at each look. Because the simulation doubles between looks, growth by a factor
/// of a million takes 21 looks; intervals are then 1.5 times as wide at 95% (3.0 standard errors instead of
/// 2.0). Asymptotic confidence sequences (Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas 2024) are equally
/// wide there, and need a look after every round, which parallel simulation does not allow.
double look_confidence(double confidence, int looks);

}  // namespace speclab

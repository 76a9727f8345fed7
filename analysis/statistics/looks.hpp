// Corrects the confidence of simulations that continue until an interval is narrow enough. Looking several
// times at intervals of 95% and stopping at one of them gives less than 95%: with ten looks at a simulation
// that doubles in between, one simulation in four excludes the truth at some look.
#pragma once

#include <cstdint>

namespace speclab {

/// Returns the number of looks at a simulation of `first` rounds that doubles until it has more than `most`:
/// at first, 2 first, 4 first, ... At least one.
int looks_at_doublings(std::uint64_t first, std::uint64_t most);

/// Returns the confidence that the interval at each of `looks` >= 1 looks needs so that all of them hold
/// together with `confidence`, including the one at which the simulation stops, for whatever reason: 1 - (1 -
/// confidence) / looks. This is a group-sequential design that spends its error evenly over the looks (Lan
/// and DeMets 1983; Jennison and Turnbull 2000, section 7.2), with Bonferroni's inequality instead of the
/// looks' joint distribution: it only needs a valid interval at each look by itself. Because the simulation
/// doubles between looks, even one of a million times its first size has 21 looks; its intervals are then 1.5
/// times as wide at 95% (3.0 standard errors instead of 2.0). Asymptotic confidence sequences (Waudby-Smith,
/// Arbour, Sinha, Kennedy and Ramdas 2024) are equally wide there, and need a look after every round, which
/// threads cannot do.
double look_confidence(double confidence, int looks);

}  // namespace speclab

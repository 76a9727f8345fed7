// Simulations that go on until an interval is narrow enough. Who looks several times at intervals of 95% and
// stops at one of them has less: of ten looks at a simulation that doubles in between, one in four excludes
// the truth somewhere.
#pragma once

#include <cstdint>

namespace speclab {

/// How often a simulation of `first` rounds that doubles is looked at before it has more than `most`: at
/// first, 2 first, 4 first, ... At least once.
int looks_at_doublings(std::uint64_t first, std::uint64_t most);

/// The confidence that the interval at each of `looks` >= 1 looks needs so that with `confidence` all of them
/// hold, and with them the one at which the simulation stops, for whatever reason: 1 - (1 - confidence) /
/// looks. A group-sequential design that spends its error evenly over the looks (Lan and DeMets 1983;
/// Jennison and Turnbull 2000, section 7.2), bounded by Bonferroni's inequality in place of the looks' joint
/// law: that asks nothing but that the interval at each look, by itself, is one. Because the looks double,
/// even a simulation of a million times its first size has 21 of them, and pays for them with intervals 1.5
/// times as wide at 95% (3.0 standard errors for 2.0). Asymptotic confidence sequences (Waudby-Smith, Arbour,
/// Sinha, Kennedy and Ramdas 2024) are as wide there, and are looked at after every round, which threads
/// cannot do.
double look_confidence(double confidence, int looks);

}  // namespace speclab

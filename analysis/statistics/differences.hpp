// Compares two estimates: the interval of their difference, its p-value, and the difference that such a
// sample finds.
#pragma once

#include <functional>
#include <optional>

#include "analysis/statistics/intervals.hpp"

namespace speclab {

/// Returns an interval with this confidence, in (0, 1); empty if there is no estimate.
using IntervalAt = std::function<std::optional<Interval>(double confidence)>;

struct Difference {
  Interval value{0, 0, 0};  ///< second less first
  double p = 1;  ///< two-sided: the smallest level at which the interval leaves 0 out, from 1e-12 on
  /// A true difference of this size is found, at level 1 - confidence, with the asked power; empty if the
  /// error is not known.
  std::optional<double> found = {};
};

/// Returns the interval of the difference of two independent estimates, second less first, from theirs (the
/// method of variance estimates recovery, Zou and Donner 2008, "Construction of confidence limits about
/// effect measures").
IntervalAt independent_difference(IntervalAt first, IntervalAt second);

/// Judges a difference by its interval, in which `units` independent parts of the smaller sample give the
/// degrees of freedom (units - 1; 2 or more units). Empty if there is no estimate.
std::optional<Difference> judged(const IntervalAt& difference, double confidence, double power, double units);

/// Returns the power of Student's two-sided t-test, at level 1 - confidence, at this noncentrality.
double t_test_power(double noncentrality, double degrees, double confidence);
/// Returns the noncentrality at which that test has this power.
double t_test_noncentrality(double degrees, double confidence, double power);

}  // namespace speclab

// Handles many p-values at once: joint decisions, and a test of their uniformity.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace speclab {

/// Returns adjusted p-values in the order given (Holm 1979). Rejecting those <= level keeps the probability
/// of any false rejection below level, for any dependence between the tests.
std::vector<double> holm_adjusted(std::span<const double> p_values);

/// A test whether values are independent and uniform on [0, 1].
struct UniformityTest {
  double distance = 0;  ///< D: largest distance between the empirical distribution function and the diagonal
  double p = 1;         ///< P(at least this distance | uniform); 1 without values
};

/// Makes the two-sided Kolmogorov-Smirnov test. p is exact up to 10,000 values, by Marsaglia, Tsang and Wang
/// 2003 ("Evaluating Kolmogorov's Distribution", J. Stat. Soft. 8(18)), with their seven-digit approximation
/// in the right tail; with more values it is Kolmogorov's limit at x + 1/(6 sqrt(n)) + (x - 1)/(4 n) for x =
/// sqrt(n) D (Vrbik 2018). p-values of counts are slightly discrete: with few samples D is at least the
/// largest jump, and p is too small. Values are in [0, 1] (asserted).
UniformityTest kolmogorov_smirnov(std::span<const double> values);

/// Returns P(D < distance) for the distance D of n >= 1 uniform values (asserted), as above.
double kolmogorov_distribution(std::size_t n, double distance);

}  // namespace speclab

#include "analysis/theory/optimal_gamma.hpp"

#include <cassert>
#include <cmath>
#include <limits>

#include "analysis/theory/theorems.hpp"

namespace speclab {
namespace {

constexpr int largest_gamma = 1'000'000'000;

bool one_more_helps(double alpha, int gamma, double c) {
  constexpr double rounding = 8 * std::numeric_limits<double>::epsilon();
  const double gain = std::pow(alpha, gamma + 1.0) * (1 + c * gamma);
  return gain > c * expected_tokens(alpha, gamma) * (1 + rounding);
}

}  // namespace

OptimalGamma optimal_gamma(double alpha, double c) {
  assert(alpha >= 0 && alpha <= 1 && c >= 0);
  if (alpha == 0) return {0, 1.0, "No drafted token is ever accepted (alpha = 0): do not speculate."};
  if (c == 0) {
    const auto limit = speedup_bound_drafting_free(alpha);
    if (!limit)
      return {{}, {}, "Drafting is free and never rejected: the speedup grows with gamma without bound."};
    return {{}, limit, "Drafting is free (c = 0): every further token helps, towards 1 / (1 - alpha)."};
  }
  if (alpha <= c)
    return {0, 1.0, "A draft run costs at least what it can save (alpha <= c): do not speculate."};
  if (alpha == 1)
    return {
        {}, 1 / c, "Every drafted token is accepted (alpha = 1): every further token helps, towards 1 / c."};

  int low = 0;  // Invariant: the maximiser lies in (low - 1, high].
  int high = 1;
  while (one_more_helps(alpha, high, c)) {
    if (high == largest_gamma) {
      return {{},
              speedup_bound_drafting_paid(alpha, c),
              "The best gamma exceeds 10^9; the given speedup is the bound 1 / (1 - alpha + c alpha)."};
    }
    low = high + 1;
    high = high > largest_gamma / 2 ? largest_gamma : 2 * high;
  }
  while (low < high) {
    const int middle = low + (high - low) / 2;
    if (one_more_helps(alpha, middle, c)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (low == 0)
    return {0, 1.0, "The gain of one drafted token is smaller than rounding errors: do not speculate."};
  return {low, speedup(alpha, low, c),
          "The largest speedup of Thm 3.8; one more drafted token would cost more than it saves."};
}

}  // namespace speclab

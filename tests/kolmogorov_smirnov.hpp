// Tests whether p-values are uniform.
#pragma once

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

namespace speclab {

/// A test whether values are independent and uniform on [0, 1].
struct UniformityTest {
  double distance = 0;  ///< D: largest distance between the empirical distribution function and the diagonal
  double p = 1;         ///< P(at least this distance | uniform); 1 without values
};

namespace kolmogorov {

inline constexpr std::size_t max_exact_values = 10000;

/// A square matrix times 10^exponent, because its powers would overflow.
struct ScaledMatrix {
  std::size_t size;
  std::vector<double> entries;
  int exponent = 0;
};

inline ScaledMatrix product(const ScaledMatrix& a, const ScaledMatrix& b) {
  const std::size_t m = a.size;
  ScaledMatrix c{m, std::vector<double>(m * m), a.exponent + b.exponent};
  for (std::size_t i = 0; i < m; ++i) {
    for (std::size_t k = 0; k < m; ++k) {
      const double factor = a.entries[i * m + k];
      if (factor == 0) continue;
      for (std::size_t j = 0; j < m; ++j) c.entries[i * m + j] += factor * b.entries[k * m + j];
    }
  }
  if (c.entries[(m / 2) * m + m / 2] > 1e140) {
    for (double& entry : c.entries) entry *= 1e-140;
    c.exponent += 140;
  }
  return c;
}

inline ScaledMatrix power(const ScaledMatrix& base, std::size_t exponent) {
  if (exponent == 1) return base;
  const ScaledMatrix half = power(base, exponent / 2);
  const ScaledMatrix even = product(half, half);
  return exponent % 2 == 0 ? even : product(base, even);
}

/// Returns P(D < d) by Marsaglia, Tsang and Wang 2003: with n d = k - h and 0 <= h < 1, it is n!/n^n times
/// the middle entry of the n-th power of a matrix of size 2k - 1 (Durbin 1973).
inline double exact_distribution(std::size_t n, double distance) {
  const auto count = static_cast<double>(n);
  const auto k = static_cast<std::size_t>(count * distance) + 1;
  const double h = static_cast<double>(k) - count * distance;
  const std::size_t m = 2 * k - 1;
  ScaledMatrix matrix{m, std::vector<double>(m * m)};
  const auto at = [&](std::size_t i, std::size_t j) -> double& { return matrix.entries[i * m + j]; };
  for (std::size_t i = 0; i < m; ++i) {
    for (std::size_t j = 0; j < m; ++j) at(i, j) = i + 1 < j ? 0 : 1;
  }
  for (std::size_t i = 0; i < m; ++i) {
    at(i, 0) -= std::pow(h, static_cast<double>(i + 1));
    at(m - 1, i) -= std::pow(h, static_cast<double>(m - i));
  }
  at(m - 1, 0) += 2 * h - 1 > 0 ? std::pow(2 * h - 1, static_cast<double>(m)) : 0;
  for (std::size_t i = 0; i < m; ++i) {
    for (std::size_t j = 0; j <= i + 1 && j < m; ++j) {
      for (std::size_t g = 2; g + j <= i + 1; ++g) at(i, j) /= static_cast<double>(g);
    }
  }
  const ScaledMatrix result = power(matrix, n);
  double value = result.entries[(k - 1) * m + k - 1];
  int exponent = result.exponent;
  for (std::size_t i = 1; i <= n; ++i) {
    value *= static_cast<double>(i) / count;
    if (value < 1e-140) {
      value *= 1e140;
      exponent -= 140;
    }
  }
  return value * std::pow(10.0, exponent);
}

/// Returns 2 sum of (-1)^(j-1) exp(-2 j^2 x^2) (Kolmogorov 1933), the limit of P(sqrt(n) D >= x).
inline double kolmogorov_tail(double x) {
  if (x < 0.2) return 1;  // 1 to 1e-12; the series needs many terms there
  double sum = 0;
  for (int j = 1; j <= 20; ++j) sum += (j % 2 == 1 ? 2 : -2) * std::exp(-2.0 * j * j * x * x);
  return std::clamp(sum, 0.0, 1.0);
}

/// Returns P(D >= distance). It is not 1 less the distribution, so that small tails keep their digits.
inline double upper_tail(std::size_t n, double distance) {
  const auto count = static_cast<double>(n);
  if (distance <= 0.5 / count) return 1;
  if (distance >= 1) return 0;
  const double root = std::sqrt(count);
  if (n > max_exact_values) {
    const double x = root * distance;
    return kolmogorov_tail(x + 1 / (6 * root) + (x - 1) / (4 * count));
  }
  const double square = distance * distance * count;
  if (square > 7.24 || (square > 3.76 && n > 99)) {
    return 2 * std::exp(-(2.000071 + 0.331 / root + 1.409 / count) * square);
  }
  return std::clamp(1 - exact_distribution(n, distance), 0.0, 1.0);
}

}  // namespace kolmogorov

/// Returns P(D < distance) for the distance D of n >= 1 uniform values (asserted), as kolmogorov_smirnov
/// does.
inline double kolmogorov_distribution(std::size_t n, double distance) {
  assert(n >= 1);
  return 1 - kolmogorov::upper_tail(n, distance);
}

/// Makes the two-sided Kolmogorov-Smirnov test. p is exact up to 10,000 values, by Marsaglia, Tsang and Wang
/// 2003 ("Evaluating Kolmogorov's Distribution", J. Stat. Soft. 8(18)), with their seven-digit approximation
/// in the right tail; with more values it is Kolmogorov's limit at x + 1/(6 sqrt(n)) + (x - 1)/(4 n) for x =
/// sqrt(n) D (Vrbik 2018). p-values of counts are slightly discrete: with few samples D is at least the
/// largest jump, and p is too small. Values are in [0, 1] (asserted).
inline UniformityTest kolmogorov_smirnov(std::span<const double> values) {
  UniformityTest test;
  if (values.empty()) return test;
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  assert(sorted.front() >= 0 && sorted.back() <= 1);
  const auto count = static_cast<double>(sorted.size());
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const auto below = static_cast<double>(i);
    test.distance = std::max({test.distance, sorted[i] - below / count, (below + 1) / count - sorted[i]});
  }
  test.p = kolmogorov::upper_tail(sorted.size(), test.distance);
  return test;
}

}  // namespace speclab

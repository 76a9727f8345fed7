#include "analysis/statistics/multiple_tests.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "tests/bounds.hpp"
#include "tests/kolmogorov_smirnov.hpp"

using namespace speclab;

namespace {

/// Returns independent uniforms, each raised to `exponent`: uniform at 1.
std::vector<double> powers_of_uniforms(std::size_t n, std::uint32_t trial, double exponent) {
  Philox stream(test_seed(1933), Site{trial, 0, Draw{Use::world, 0}});
  std::vector<double> values(n);
  for (double& value : values) value = std::pow(open_unit(stream()), exponent);
  return values;
}

}  // namespace

TEST_CASE("Holm by hand: p = .01, .04, .03, .005") {
  const double p_values[] = {0.01, 0.04, 0.03, 0.005};
  const std::vector<double> adjusted = holm_adjusted(p_values);
  CHECK(adjusted[0] == doctest::Approx(0.03));
  CHECK(adjusted[1] == doctest::Approx(0.06));
  CHECK(adjusted[2] == doctest::Approx(0.06));
  CHECK(adjusted[3] == doctest::Approx(0.02));
  CHECK(holm_adjusted({}).empty());
}

TEST_CASE("the family's error rate, by simulation") {
  // Null: 10 true hypotheses beside 10 false ones. Holm makes any false rejection in at most .1 of the
  // families. Without adjustment a family of 10 has a false rejection in .65 of the cases.
  constexpr int families = 3000;
  constexpr double level = 0.1;
  int any = 0;
  int unadjusted = 0;
  for (std::uint32_t family = 0; family < families; ++family) {
    std::vector<double> p = powers_of_uniforms(10, family, 1);
    for (const double small : powers_of_uniforms(10, families + family, 8)) p.push_back(small);
    const std::vector<double> holm = holm_adjusted(p);
    const auto rejected = [&](double of_true) { return of_true <= level; };
    any += std::any_of(holm.begin(), holm.begin() + 10, rejected) ? 1 : 0;
    unadjusted += std::any_of(p.begin(), p.begin() + 10, rejected) ? 1 : 0;
  }
  const auto at_most_level = [&](int count) {
    return count / double{families} <= level + bound_in_sigmas * std::sqrt(level * (1 - level) / families);
  };
  CHECK(at_most_level(any));
  CHECK_FALSE(at_most_level(unadjusted));
}

TEST_CASE("Kolmogorov's distribution at known values") {
  // This value is from Marsaglia, Tsang and Wang 2003, section 3.
  CHECK(kolmogorov_distribution(10, 0.274) == doctest::Approx(0.6284796154565).epsilon(1e-12));
  // For one value, P(D < d) = 2 d - 1 for d in [1/2, 1].
  for (const double d : {0.5, 0.6, 0.75, 0.999}) {
    CHECK(kolmogorov_distribution(1, d) == doctest::Approx(2 * d - 1).epsilon(1e-12));
  }
  // For two values it is 2 (2 d - 1/2)^2 for d in [1/4, 1/2], and 1 - 2 (1 - d)^2 above.
  CHECK(kolmogorov_distribution(2, 0.4) == doctest::Approx(2 * 0.3 * 0.3).epsilon(1e-12));
  CHECK(kolmogorov_distribution(2, 0.7) == doctest::Approx(1 - 2 * 0.09).epsilon(1e-12));
  // These are percentage points of Massey 1951 (three digits), and of the limit.
  CHECK(1 - kolmogorov_distribution(20, 0.294) == doctest::Approx(0.05).epsilon(0.02));
  CHECK(1 - kolmogorov_distribution(10, 0.409) == doctest::Approx(0.05).epsilon(0.02));
  CHECK(1 - kolmogorov_distribution(10000, 1.3581 / 100) == doctest::Approx(0.05).epsilon(0.01));
  CHECK(kolmogorov_distribution(5, 0.1) == 0);
  CHECK(kolmogorov_distribution(5, 1) == 1);
}

TEST_CASE("the exact distribution, its tail and the limit meet") {
  for (const double x : {0.5, 0.8, 1.2, 1.9}) {
    CHECK(kolmogorov_distribution(10000, x / 100) ==
          doctest::Approx(kolmogorov_distribution(10001, x / std::sqrt(10001.0))).epsilon(1e-4));
  }
  // The approximation in the tail starts at n D^2 = 3.76 above 99 values.
  const double before = 1 - kolmogorov_distribution(200, std::sqrt(3.759 / 200));
  const double after = 1 - kolmogorov_distribution(200, std::sqrt(3.761 / 200));
  CHECK(after < before);
  CHECK(after == doctest::Approx(before).epsilon(0.01));
}

TEST_CASE("Kolmogorov-Smirnov by hand") {
  const double values[] = {0.9, 0.1, 0.2};
  // There is a step of 1/3 at each value: the largest distance is 2/3 - .2.
  CHECK(kolmogorov_smirnov(values).distance == doctest::Approx(2.0 / 3 - 0.2));
  CHECK(kolmogorov_smirnov({}).p == 1);
  const double ends[] = {0, 1};
  CHECK(kolmogorov_smirnov(ends).distance == doctest::Approx(0.5));
}

TEST_CASE("p-values of uniform samples are uniform themselves; other samples are rejected") {
  // Null: 1,000 tests of 80 uniform values; their p-values are uniform: KS at 1e-11, and .05 of them below
  // .05 at seven sigma. Power: 1,000 squares of uniforms have D = 1/4.
  std::vector<double> p_values;
  int below = 0;
  for (std::uint32_t trial = 0; trial < 1000; ++trial) {
    p_values.push_back(kolmogorov_smirnov(powers_of_uniforms(80, trial, 1)).p);
    below += p_values.back() <= 0.05 ? 1 : 0;
  }
  CHECK(kolmogorov_smirnov(p_values).p > p_value_bound);
  CHECK(count_agrees(below, 1000, 0.05));
  CHECK(kolmogorov_smirnov(powers_of_uniforms(1000, 0, 2)).p < p_value_bound);
  for (double& p : p_values) p = std::pow(p, 1.5);
  CHECK(kolmogorov_smirnov(p_values).p < p_value_bound);
}

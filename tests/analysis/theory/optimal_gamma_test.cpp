#include "analysis/theory/optimal_gamma.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <ctime>
#include <string>

#include "analysis/theory/theorems.hpp"

using namespace speclab;

TEST_CASE("the optimum agrees with trying every gamma") {
  constexpr int limit = 400;
  for (int a = 1; a <= 97; a += 3) {
    for (const double c : {0.01, 0.02, 0.05, 0.11, 0.3, 0.5, 0.7, 0.97, 1.0, 3.0}) {
      const double alpha = a / 100.0;
      CAPTURE(alpha);
      CAPTURE(c);
      int best = 0;
      for (int gamma = 1; gamma <= limit; ++gamma) {
        if (speedup(alpha, gamma, c) > speedup(alpha, best, c) * (1 + 1e-14)) best = gamma;
      }
      REQUIRE(best < limit);
      const OptimalGamma found = optimal_gamma(alpha, c);
      CHECK(found.gamma == best);
      CHECK(found.speedup.value() == doctest::Approx(speedup(alpha, best, c)).epsilon(1e-14));
      CHECK_FALSE(found.reason.empty());
      // Cor. 3.9: with alpha > c the best gamma reaches the guarantee.
      if (const auto guaranteed = guaranteed_speedup(alpha, c))
        CHECK(*found.speedup >= *guaranteed * (1 - 1e-14));
    }
  }
}

TEST_CASE("exact ties go to the smaller gamma") {
  // With alpha = c, gamma = 0 and 1 are equally fast.
  for (const double both : {0.1, 0.3, 0.5, 0.9}) CHECK(optimal_gamma(both, both).gamma == 0);
  // A(1/2, 1) / (1 + c) = A(1/2, 2) / (1 + 2c) at c = 1/5.
  CHECK(speedup(0.5, 1, 0.2) == doctest::Approx(speedup(0.5, 2, 0.2)).epsilon(1e-15));
  CHECK(optimal_gamma(0.5, 0.2).gamma == 1);
}

TEST_CASE("no finite optimum is said, with the limit where there is one") {
  const OptimalGamma free = optimal_gamma(0.75, 0);
  CHECK_FALSE(free.gamma.has_value());
  CHECK(free.speedup.value() == doctest::Approx(4));
  const OptimalGamma certain = optimal_gamma(1, 0.25);
  CHECK_FALSE(certain.gamma.has_value());
  CHECK(certain.speedup.value() == 4);
  const OptimalGamma both = optimal_gamma(1, 0);
  CHECK_FALSE(both.gamma.has_value());
  CHECK_FALSE(both.speedup.has_value());
  const OptimalGamma far = optimal_gamma(1 - 1e-16, 1e-12);
  CHECK_FALSE(far.gamma.has_value());
  for (const OptimalGamma& found : {free, certain, both, far}) CHECK_FALSE(found.reason.empty());
}

TEST_CASE("near alpha = 1 an optimum below 10^9 is found, and beyond it the bound holds and is near") {
  // If c is small against 1 / gamma, the optimum as a real number has 1 - alpha = x / gamma with e^x - 1 - x
  // = (1 - alpha) / c, solved by bisection.
  const auto continuous = [](double rejection, double c) {
    double low = 0;
    double high = 50;
    for (int i = 0; i < 200; ++i) {
      const double middle = (low + high) / 2;
      (std::expm1(middle) - middle < rejection / c ? low : high) = middle;
    }
    return low / rejection;
  };
  for (const double rejection : {1e-9, 2e-9, 1e-8}) {
    for (const double c : {1e-9, 3e-9}) {
      const double alpha = 1 - rejection;
      const double expected = continuous(1 - alpha, c);
      CAPTURE(rejection);
      CAPTURE(c);
      const OptimalGamma found = optimal_gamma(alpha, c);
      if (expected < 0.99e9) {
        REQUIRE(found.gamma.has_value());
        CHECK(*found.gamma == doctest::Approx(expected).epsilon(1e-3));
        CHECK(found.speedup.value() >= speedup(alpha, *found.gamma / 2, c));
      } else if (expected > 1.01e9) {
        CHECK_FALSE(found.gamma.has_value());
      }
    }
  }
  // 1 / (1 - alpha) would be 4.5e15.
  const OptimalGamma far = optimal_gamma(1 - 1e-15, 1e-12);
  CHECK_FALSE(far.gamma.has_value());
  CHECK(far.speedup.value() <= 1e12);
  CHECK(far.speedup.value() >= speedup(1 - 1e-15, 1'000'000'000, 1e-12));
  CHECK(far.reason.find("c alpha") != std::string::npos);
}

TEST_CASE("do not speculate: nothing accepted, or a draft as slow as the target") {
  for (const double c : {0.0, 0.5, 2.0}) {
    CHECK(optimal_gamma(0, c).gamma == 0);
    CHECK(optimal_gamma(0, c).speedup == 1.0);
  }
  CHECK(optimal_gamma(1, 1).gamma == 0);
  CHECK(optimal_gamma(1, 2).gamma == 0);
  CHECK(optimal_gamma(0.5, 0.6).gamma == 0);
}

TEST_CASE("ten thousand hard calls take less than a second of processor time") {
  const std::clock_t start = std::clock();  // processor time, which other work does not change
  long total = 0;
  for (int i = 0; i < 10000; ++i) total += optimal_gamma(0.9999 - i * 1e-12, 1e-4).gamma.value();
  const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  CHECK(total > 0);
  CHECK(seconds < 1);
}
